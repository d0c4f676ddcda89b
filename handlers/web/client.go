package web

import (
	"net/http"
	"strings"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

const deviceName = "device"

// Client is the browser or program that a request of an organizer comes from.
func (h *Server) Client(r *http.Request) organizers.Client {
	n := NetworkOf(r)
	return organizers.Client{Network: n.String(), Shared: n == 0 || n.Private(), Agent: agentWords(r.UserAgent()), Device: h.KeptCookie(r, deviceName)}
}

// KeepDevice has a browser remember that an organizer signed in there: tries elsewhere do not slow it down.
func (h *Server) KeepDevice(w http.ResponseWriter, token string) {
	http.SetCookie(w, &http.Cookie{
		Name: h.kept(deviceName), Value: token, Path: "/", MaxAge: int(organizers.DeviceLength.Seconds()), HttpOnly: true, Secure: h.Sessions.Cookie.Secure, SameSite: http.SameSiteLaxMode,
	})
}

// The first word that a browser's own description has in it, and what people call it. Most browsers claim to be others.
var (
	browsers = [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"FxiOS", "Firefox"}, {"CriOS", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}}
	systems  = [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}}
)

// agentWords says in words of ours what a browser says that it is, so that nothing of a stranger's stands in a log.
func agentWords(says string) string {
	browser, system := "", ""
	for _, b := range browsers {
		if strings.Contains(says, b[0]) {
			browser = b[1]
			break
		}
	}
	for _, s := range systems {
		if strings.Contains(says, s[0]) {
			system = s[1]
			break
		}
	}
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "":
		return browser
	case says == "":
		return ""
	}
	return text.Mark("a program")
}
