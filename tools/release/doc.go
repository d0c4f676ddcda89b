// Package release makes what operators install: archives (make.sh), an image (image.sh), and it holds the Compose file
// and the manifests of contrib/ against the schemas of their own projects. It is a module of its own, because those
// schemas are large. docs/releases.md says how to install a release and how to make one.
package release
