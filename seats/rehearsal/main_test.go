package rehearsal

import (
	"testing"

	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }
