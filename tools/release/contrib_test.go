package release

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

// manifests are the objects of a file of Kubernetes, each refused if it has a field that its kind does not have.
func manifests(file []byte) (kinds []string, err error) {
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(file)))
	defer documents.Close()
	buffer := make([]byte, len(file))
	for {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return kinds, nil
		}
		if err != nil {
			return kinds, err
		}
		_, kind, err := decoder.Decode(buffer[:n], nil, nil)
		if err != nil {
			return kinds, err
		}
		kinds = append(kinds, kind.Kind)
	}
}

func TestKubernetes_TheAPITakesEveryManifest(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../contrib/kubernetes.yml")
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := manifests(file)
	if err != nil || strings.Join(kinds, " ") != "ServiceAccount ConfigMap Deployment PodDisruptionBudget Service Ingress" {
		t.Error(kinds, err)
	}
	for name, planted := range map[string][2]string{
		"a field that there is not":   {"readOnlyRootFilesystem: true", "readOnlyRoot: true"},
		"a kind of another version":   {"apiVersion: policy/v1", "apiVersion: policy/v1alpha9"},
		"a number that is a sentence": {"replicas: 2", "replicas: two"},
	} {
		if _, err := manifests(bytes.Replace(file, []byte(planted[0]), []byte(planted[1]), 1)); err == nil {
			t.Errorf("%s is not found", name)
		}
	}
}

// compose reads a Compose file as docker compose does.
func compose(t *testing.T, file []byte) (*types.Project, error) {
	t.Helper()
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  t.TempDir(),
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yml", Content: file}},
		Environment: types.Mapping{"HOST": "tickets.example.org"},
	})
}

func TestCompose_TheFileIsWhatItsSchemaSays(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../contrib/compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	project, err := compose(t, file)
	if err != nil {
		t.Fatal(err)
	}
	usher := project.Services["usher"]
	if url := usher.Environment["USHER_URL"]; len(project.Services) != 3 || url == nil || *url != "https://tickets.example.org" || !usher.ReadOnly {
		t.Errorf("%d services, %+v", len(project.Services), usher)
	}
	if _, err := compose(t, bytes.Replace(file, []byte("read_only: true"), []byte("readonly: true"), 1)); err == nil {
		t.Error("a word that Compose does not know is not found")
	}
	if _, err := compose(t, bytes.Replace(file, []byte("secrets: [database, key]"), []byte("secrets: [database, lock]"), 1)); err == nil {
		t.Error("a secret that there is not is not found")
	}
}
