package handlers

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.yaml
var openapi []byte

// GET /openapi.yaml
func (h *Handlers) openapi(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openapi) // a reader who is gone needs no description
	return nil
}
