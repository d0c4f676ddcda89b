// Command words finds the messages of the program, and merges them into the catalogues of its languages: make words.
//
// It reads the Go of the tree, what templ makes of the templates, and the scripts. A message is a constant string in a call of
// package text, such as text.T(ctx, "Checkout"), or of T or N in a script. A catalogue keeps the translations of the messages that are still there.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := write(root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write finds the messages of a tree, and writes its template and its catalogues.
func write(root string) error {
	list, err := find(root)
	if err != nil {
		return err
	}
	folder := filepath.Join(root, catalogues)
	if err := os.WriteFile(filepath.Join(folder, template), []byte(render(list, nil)), 0o644); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.po"))
	if err != nil {
		return err
	}
	for _, name := range files {
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(render(list, parse(old))), 0o644); err != nil {
			return err
		}
	}
	return nil
}
