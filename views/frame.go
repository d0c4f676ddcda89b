package views

import "context"

type framedKey struct{}

// InFrame returns the context of a page that another site shows in a frame.
func InFrame(ctx context.Context) context.Context { return context.WithValue(ctx, framedKey{}, true) }

// Framed reports whether a page is shown in a frame.
func Framed(ctx context.Context) bool { return ctx.Value(framedKey{}) != nil }
