package plan

// conference is a free talk on the web: 200 places, and nothing to look at on a map.
func conference() *document {
	return &document{
		Format:     FormatOwn,
		Name:       "Web conference",
		Categories: []documentCategory{{"F", "Free place", "#2f6f73", 0}},
		Sections: []documentSection{{
			Name:     "Places",
			Category: "F",
			Area:     &documentArea{Capacity: 200},
			Outline:  []pair{{0, 0}, {400, 0}, {400, 200}, {0, 200}},
		}},
	}
}
