package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

// secretValue is a setting with a secret in it. It has no flag, because every user of the machine can read a command line: it
// comes from its environment variable, or from the file that the variable of the same name with _FILE names.
type secretValue struct {
	value *string
	file  *string // where the value came from, if from a file; may be nil
	env   string
}

// String is part of flag.Value. It never says the secret.
func (*secretValue) String() string { return "" }

// Set is part of flag.Value.
func (v *secretValue) Set(string) error { return errors.New(v.refusal()) }

func (v *secretValue) refusal() string {
	return fmt.Sprintf("secrets are not taken from the command line, where every user of this machine can read them: set %s, or %s_FILE to a file that holds it", v.env, v.env)
}

func secret(value *string) func(*flag.FlagSet, string, string) { return secretOrFile(value, nil) }

func secretOrFile(value, file *string) func(*flag.FlagSet, string, string) {
	return func(fs *flag.FlagSet, name, about string) {
		fs.Var(&secretValue{value: value, file: file}, name, about)
	}
}

func isSecret(f *flag.Flag) bool {
	_, is := f.Value.(*secretValue)
	return is
}

// read takes the secret from the environment, or from the file that it names.
func (v *secretValue) read(env string, getenv func(string) string) error {
	v.env = env
	direct, file := getenv(env), getenv(env+"_FILE")
	switch {
	case direct != "" && file != "":
		return usageError{fmt.Sprintf("%s and %s_FILE are both set; one is enough", env, env)}
	case file != "":
		text, err := os.ReadFile(file)
		if err != nil {
			return usageError{fmt.Sprintf("%s_FILE cannot be read: %v", env, err)}
		}
		direct = strings.TrimSpace(string(text))
		if direct == "" {
			return usageError{fmt.Sprintf("the file %s of %s_FILE is empty", file, env)}
		}
		if v.file != nil {
			*v.file = file
		}
	}
	*v.value = direct
	return nil
}

// refuseSecrets refuses arguments that give a secret as a flag, without repeating it.
func refuseSecrets(fs *flag.FlagSet, args []string) error {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f := fs.Lookup(name)
		if f == nil {
			continue
		}
		if v, is := f.Value.(*secretValue); is {
			return fmt.Errorf("--%s is no flag: %s", name, v.refusal())
		}
	}
	return nil
}
