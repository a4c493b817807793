// actionlint, as its own command: what it finds in the workflows that it is given.
package main

import (
	"os"

	"github.com/rhysd/actionlint"
)

func main() {
	command := actionlint.Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(command.Main(os.Args))
}
