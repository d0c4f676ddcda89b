package limit

// Step is one step of Run.
var Step = (*Events).step
