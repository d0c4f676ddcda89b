package handlers

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

// access is what is expected of a route.
type access struct {
	need   organizers.Need
	anyone bool   // open without signing in: attendees' routes, and those to sign in
	form   string // further fields of a form, if the role is checked after them
	ends   bool   // it ends the session of an allowed member
	proved bool   // it needs proof, not long ago, of who the member is

	refuses bool // it answers allowed members 403 or 404, too: they have nothing to show
}

var anyone = access{anyone: true}

// matrix is what each role may do: each route of the table has a line. The needs stand here once more, written by hand
// for each route, so that a wrapper with another need is noticed.
var matrix = map[string]access{
	"GET /desk":               {need: organizers.Enter},
	"GET /desk/events":        {need: organizers.Enter},
	"GET /desk/search":        {need: organizers.Enter},
	"GET /desk/events/{slug}": {need: organizers.Look},

	"GET /desk/events/new":                                        {need: organizers.Manage},
	"POST /desk/events":                                           {need: organizers.Manage, form: "name="},
	"GET /desk/subscriptions":                                     {need: organizers.Look},
	"POST /desk/subscriptions":                                    {need: organizers.Manage},
	"GET /desk/subscriptions/new":                                 {need: organizers.Manage},
	"GET /desk/subscriptions/{subscription}":                      {need: organizers.Look},
	"POST /desk/subscriptions/{subscription}":                     {need: organizers.Manage, form: "places=100"},
	"POST /desk/subscriptions/{subscription}/renewal":             {need: organizers.Manage, form: "renews=own-season"},
	"GET /desk/series":                                            {need: organizers.Look},
	"GET /desk/series/{series}":                                   {need: organizers.Look},
	"POST /desk/series/{series}/performances":                     {need: organizers.Manage, form: "show=on&dates=2036-12-01+19:30"},
	"POST /desk/series/{series}/changes":                          {need: organizers.Manage, form: "all=on&time=19:30"},
	"GET /desk/events/{slug}/series":                              {need: organizers.Manage},
	"POST /desk/events/{slug}/series":                             {need: organizers.Manage, form: "show=on&dates=2036-12-01+19:30"},
	"GET /desk/events/{slug}/settings":                            {need: organizers.Manage},
	"POST /desk/events/{slug}/settings":                           {need: organizers.Manage, form: "name="},
	"GET /desk/events/{slug}/checklist":                           {need: organizers.Manage},
	"POST /desk/events/{slug}/status":                             {need: organizers.Manage, form: "status=forgotten"},
	"GET /desk/events/{slug}/rehearsal":                           {need: organizers.Manage},
	"GET /desk/events/{slug}/rehearsal/map.bin":                   {need: organizers.Manage},
	"POST /desk/events/{slug}/rehearsal":                          {need: organizers.Manage, form: "people=0"},
	"POST /desk/events/{slug}/rehearsal/stop":                     {need: organizers.Manage},
	"POST /desk/events/{slug}/test":                               {need: organizers.Manage},
	"POST /desk/events/{slug}/test/closing":                       {need: organizers.Manage},
	"POST /desk/events/{slug}/copies":                             {need: organizers.Manage, form: "name=Another"},
	"GET /desk/events/{slug}/preview":                             {need: organizers.Look},
	"GET /desk/events/{slug}/seats":                               {need: organizers.Sell},
	"GET /desk/events/{slug}/seats/{idx}":                         {need: organizers.Look},
	"GET /desk/events/{slug}/blocks":                              {need: organizers.Look},
	"POST /desk/events/{slug}/blocks":                             {need: organizers.Manage},
	"POST /desk/events/{slug}/blocks/{block}":                     {need: organizers.Manage},
	"POST /desk/events/{slug}/unblocks":                           {need: organizers.Manage},
	"GET /desk/events/{slug}/guests":                              {need: organizers.Sell},
	"POST /desk/events/{slug}/guests":                             {need: organizers.Sell, form: "guests=Ann"},
	"POST /desk/events/{slug}/guests/tickets":                     {need: organizers.Sell},
	"POST /desk/events/{slug}/guests/{guest}/removal":             {need: organizers.Sell},
	"GET /desk/events/{slug}/bookings":                            {need: organizers.Sell},
	"POST /desk/events/{slug}/bookings":                           {need: organizers.Sell, form: "name=Eva&number=2&until=2029-01-01T10:00"},
	"GET /desk/events/{slug}/bookings/{booking}":                  {need: organizers.Sell},
	"POST /desk/events/{slug}/bookings/{booking}":                 {need: organizers.Sell, form: "name=Eva&until=2029-01-01T10:00"},
	"POST /desk/events/{slug}/bookings/{booking}/seats":           {need: organizers.Sell, form: "keep=1"},
	"POST /desk/events/{slug}/bookings/{booking}/order":           {need: organizers.Sell, form: "due=2029-01-01T10:00"},
	"POST /desk/events/{slug}/bookings/{booking}/names":           {need: organizers.Sell, form: "names=Ann"},
	"POST /desk/events/{slug}/bookings/{booking}/deposit/payment": {need: organizers.Sell, form: "method=cash"},
	"POST /desk/events/{slug}/bookings/{booking}/deposit/end":     {need: organizers.Manage, proved: true, form: "outcome=retained"},
	"POST /desk/events/{slug}/bookings/{booking}/cancellation":    {need: organizers.Sell},
	"POST /desk/events/{slug}/sales":                              {need: organizers.Sell, form: "method=cash"},
	"GET /desk/events/{slug}/till":                                {need: organizers.Sell},
	"GET /desk/events/{slug}/till/best":                           {need: organizers.Sell},
	"GET /desk/events/{slug}/till/tickets/{code}":                 {need: organizers.Sell},
	"GET /desk/till":                                              {need: organizers.Sell},
	"POST /desk/till":                                             {need: organizers.Manage, form: "methods=x&methods=x"},
	"POST /desk/till/sessions":                                    {need: organizers.Sell, form: "float=x"},
	"GET /desk/till/sessions/{file}":                              {need: organizers.Sell, refuses: true}, // people of the door see their own
	"POST /desk/till/sessions/{id}/entries":                       {need: organizers.Sell, refuses: true},
	"POST /desk/till/sessions/{id}/closing":                       {need: organizers.Sell, refuses: true},
	"GET /desk/till/sessions/{id}/reader":                         {need: organizers.Sell, refuses: true},
	"POST /desk/till/sessions/{id}/reader":                        {need: organizers.Sell, refuses: true},
	"GET /desk/till/payments/{code}":                              {need: organizers.Sell},
	"POST /desk/till/payments/{code}/cancellation":                {need: organizers.Sell},
	"GET /desk/till/days/{file}":                                  {need: organizers.Look},
	"GET /desk/events/{slug}/orders":                              {need: organizers.Find},
	"POST /desk/events/{slug}/cancellations":                      {need: organizers.Manage},
	"GET /desk/events/{slug}/orders/{code}":                       {need: organizers.Find},
	"POST /desk/events/{slug}/orders/{code}/cancellations":        {need: organizers.Manage},
	"POST /desk/events/{slug}/orders/{code}/refunds":              {need: organizers.Manage, form: "amount=1.00"},
	"POST /desk/events/{slug}/orders/{code}/moves":                {need: organizers.Manage},
	"POST /desk/events/{slug}/orders/{code}/exchanges":            {need: organizers.Exchange},
	"POST /desk/events/{slug}/orders/{code}/mails":                {need: organizers.Manage},
	"POST /desk/events/{slug}/orders/{code}/payments":             {need: organizers.Sell},
	"POST /desk/events/{slug}/orders/{code}/due":                  {need: organizers.Manage},
	"POST /desk/events/{slug}/orders/{code}/payouts":              {need: organizers.Manage, proved: true},
	"GET /desk/events/{slug}/post":                                {need: organizers.Look},
	"POST /desk/events/{slug}/post":                               {need: organizers.Sell, refuses: true},
	"GET /desk/events/{slug}/exports/{file}":                      {need: organizers.Manage},
	"GET /desk/events/{slug}/doors":                               {need: organizers.Admit},
	"POST /desk/events/{slug}/doors":                              {need: organizers.Admit},
	"POST /desk/events/{slug}/doors/closing":                      {need: organizers.Manage},
	"POST /desk/events/{slug}/doors/{door}/closing":               {need: organizers.Manage},
	"GET /desk/events/{slug}/page":                                {need: organizers.Promote},
	"POST /desk/events/{slug}/page":                               {need: organizers.Promote, form: "language=en&town=Vienna"},
	"POST /desk/events/{slug}/pictures":                           {need: organizers.Promote, form: "kind=header", refuses: true},
	"POST /desk/events/{slug}/pictures/{id}":                      {need: organizers.Promote, form: "remove=on", refuses: true},
	"GET /desk/events/{slug}/messages":                            {need: organizers.Promote},
	"POST /desk/events/{slug}/messages":                           {need: organizers.Promote},
	"POST /desk/events/{slug}/messages/{message}/stop":            {need: organizers.Promote},
	"GET /desk/events/{slug}/comparison":                          {need: organizers.Promote},
	"GET /desk/events/{slug}/settlement":                          {need: organizers.Account},
	"GET /desk/events/{slug}/settlement.pdf":                      {need: organizers.Account},
	"POST /desk/events/{slug}/settlement":                         {need: organizers.Account, form: "name=Author&percent=10&of=net"},
	"GET /desk/events/{slug}/letters":                             {need: organizers.Promote},
	"GET /desk/mail-texts":                                        {need: organizers.Promote},
	"POST /desk/mail-texts":                                       {need: organizers.Promote, form: "kind=upcoming&language=en&opening=Hello"},
	"POST /desk/events/{slug}/letters":                            {need: organizers.Promote, form: "remind=on&hours=24&thanks=off"},

	// The live desk.
	"GET /desk/events/{slug}/live":               {need: organizers.Look},
	"GET /desk/events/{slug}/geometry.json":      {need: organizers.Look},
	"GET /desk/events/{slug}/replay.bin":         {need: organizers.Look},
	"POST /desk/events/{slug}/seen":              {need: organizers.Sell, form: "concern=x"},
	"GET /desk/events/{slug}/prices":             {need: organizers.Look},
	"POST /desk/events/{slug}/prices":            {need: organizers.Manage, form: "type.0.name=Adult&price.0.0.A=28&price.0.0.B=48&price.0.0.C=36"},
	"GET /desk/events/{slug}/codes":              {need: organizers.Promote},
	"POST /desk/events/{slug}/codes":             {need: organizers.Promote, form: "code=HALF&off=50%25"},
	"POST /desk/events/{slug}/codes/retirements": {need: organizers.Promote, form: "code=HALF"},
	"GET /desk/events/{slug}/log":                {need: organizers.Look},
	"POST /desk/events/{slug}/log":               {need: organizers.Manage, form: "enabled=on"},
	"POST /desk/events/{slug}/fairness":          {need: organizers.Manage},
	"GET /desk/events/{slug}/limits":             {need: organizers.Look},
	"POST /desk/events/{slug}/limits":            {need: organizers.Manage, form: "challenge=always"},
	"GET /desk/events/{slug}/room":               {need: organizers.Manage},
	"POST /desk/events/{slug}/room":              {need: organizers.Manage, form: "do=pause&reason=x"},
	"GET /desk/events/{slug}/waitlist":           {need: organizers.Look},
	"POST /desk/events/{slug}/waitlist":          {need: organizers.Manage, form: "do=pause&reason=x"},

	"GET /desk/events/{slug}/shares":                  {need: organizers.Promote},
	"POST /desk/events/{slug}/shares":                 {need: organizers.Promote, form: "name="},
	"POST /desk/events/{slug}/shares/{id}/revocation": {need: organizers.Promote},
	"GET /boards/{token}":                             anyone,
	"GET /boards/{token}/live":                        anyone,

	"GET /desk/team":                                 {need: organizers.Look},
	"POST /desk/team":                                {need: organizers.Own, proved: true, form: "name=Box+office"},
	"POST /desk/teams":                               {need: organizers.Own, form: "name="},
	"POST /desk/team/invitations":                    {need: organizers.Own, proved: true, form: "email=new@example.org&role=viewer"},
	"POST /desk/team/invitations/{id}/withdrawal":    {need: organizers.Own, proved: true},
	"POST /desk/team/members/{id}":                   {need: organizers.Own, proved: true, form: "role=viewer"},
	"POST /desk/team/members/{id}/removal":           {need: organizers.Own, proved: true},
	"POST /desk/team/second-factor":                  {need: organizers.Own, proved: true}, // turned off
	"GET /desk/keys":                                 {need: organizers.Own},
	"POST /desk/keys":                                {need: organizers.Own, proved: true, form: "name="},
	"GET /desk/keys/requests":                        {need: organizers.Look, refuses: true}, // owners, and a program those of its key
	"POST /desk/keys/{id}/revocation":                {need: organizers.Own, proved: true},
	"GET /desk/alerts":                               {need: organizers.Look},
	"POST /desk/alerts":                              {need: organizers.Look},
	"POST /desk/alerts/tests":                        {need: organizers.Look},
	"GET /desk/hooks":                                {need: organizers.Own},
	"POST /desk/hooks":                               {need: organizers.Own, proved: true, form: "url="},
	"GET /desk/hooks/{id}":                           {need: organizers.Own},
	"POST /desk/hooks/{id}":                          {need: organizers.Own, proved: true, form: "url="},
	"POST /desk/hooks/{id}/secrets":                  {need: organizers.Own, proved: true},
	"POST /desk/hooks/{id}/tests":                    {need: organizers.Own},
	"POST /desk/hooks/{id}/switch":                   {need: organizers.Own, proved: true, form: "on=yes"},
	"POST /desk/hooks/{id}/removal":                  {need: organizers.Own, proved: true},
	"POST /desk/hooks/{id}/notices/{notice}/repeats": {need: organizers.Own},
	"GET /desk/privacy":                              {need: organizers.Own},
	"POST /desk/privacy":                             {need: organizers.Own, form: "months=24", proved: true},
	"POST /desk/privacy/exports":                     {need: organizers.Own, proved: true, form: "email=x"},
	"POST /desk/privacy/erasures":                    {need: organizers.Own, proved: true, form: "email=x"},
	"GET /desk/branding":                             {need: organizers.Promote},
	"POST /desk/branding":                            {need: organizers.Promote, form: "font=plain"},
	"GET /desk/branding/ticket.pdf":                  {need: organizers.Promote},
	"POST /desk/branding/pictures":                   {need: organizers.Promote, form: "kind=logo", refuses: true},
	"POST /desk/branding/pictures/removal":           {need: organizers.Promote, form: "kind=logo"},
	"GET /desk/site":                                 {need: organizers.Own},
	"POST /desk/site":                                {need: organizers.Own, proved: true, form: "sites="},
	"POST /desk/site/keys":                           {need: organizers.Own, proved: true},
	"POST /desk/site/keys/{id}/end":                  {need: organizers.Own, proved: true},
	"POST /desk/site/domain":                         {need: organizers.Own, proved: true, form: "domain="},
	"POST /desk/site/domain/proof":                   {need: organizers.Own, proved: true},
	"POST /desk/site/domain/removal":                 {need: organizers.Own, proved: true},
	"GET /desk/legal":                                {need: organizers.Manage},
	"POST /desk/legal":                               {need: organizers.Manage, form: "kind=none"},
	"GET /desk/gift-cards":                           {need: organizers.Manage},
	"POST /desk/gift-cards":                          {need: organizers.Own, form: "amounts="},
	"POST /desk/gift-cards/{id}/refunds":             {need: organizers.Manage, proved: true},
	"GET /desk/log":                                  {need: organizers.Manage},

	// One's own account. Passkeys of another person are not there.
	"GET /desk/account":                         {need: organizers.Self},
	"POST /desk/account":                        {need: organizers.Self, form: "name=Ann"},
	"POST /desk/account/password":               {need: organizers.Self, form: "before=three+plain+words&password="},
	"POST /desk/account/passkeys/options":       {need: organizers.Self, proved: true},
	"POST /desk/account/passkeys":               {need: organizers.Self, proved: true, form: "name="},
	"POST /desk/account/passkeys/{id}":          {need: organizers.Self, form: "name=Phone"},
	"POST /desk/account/passkeys/{id}/removal":  {need: organizers.Self, proved: true},
	"POST /desk/account/sessions/{id}/end":      {need: organizers.Self, proved: true},
	"GET /desk/account/second-factor":           {need: organizers.Self, proved: true},
	"POST /desk/account/codes":                  {need: organizers.Self, proved: true, form: "code=x", refuses: true},
	"POST /desk/account/codes/removal":          {need: organizers.Self, proved: true, refuses: true},
	"POST /desk/account/recovery":               {need: organizers.Self, proved: true, refuses: true},
	"GET /desk/session/proof":                   {need: organizers.Self},
	"POST /desk/session/proof":                  {need: organizers.Self, form: "password=three+plain+words"},
	"POST /desk/session/proof/passkey":          {need: organizers.Self, refuses: true},
	"POST /desk/session/everywhere":             {need: organizers.Self, proved: true, ends: true},
	"GET /desk/session/proof/openid":            {need: organizers.Self},
	"GET /desk/account/openid":                  {need: organizers.Self, proved: true},
	"POST /desk/account/openid/removal":         {need: organizers.Self, proved: true, refuses: true},
	"POST /desk/session/team":                   {need: organizers.Self, form: "team=1"},
	"GET /desk/events/{slug}/plan":              {need: organizers.Manage},
	"POST /desk/events/{slug}/plan":             {need: organizers.Manage},
	"POST /desk/events/{slug}/plan/copies":      {need: organizers.Manage},
	"GET /desk/plans":                           {need: organizers.Look},
	"POST /desk/plans":                          {need: organizers.Manage, form: "name=Ours"},
	"GET /desk/plans/{plan}":                    {need: organizers.Look},
	"GET /desk/plans/{plan}/editor":             {need: organizers.Manage},
	"GET /desk/plans/{plan}/versions/{file}":    {need: organizers.Look},
	"POST /desk/plans/{plan}/versions":          {need: organizers.Manage},
	"POST /desk/plans/{plan}/pictures":          {need: organizers.Manage, refuses: true},
	"GET /desk/plans/{plan}/pictures/{picture}": {need: organizers.Manage},
	"GET /desk/taxes":                           {need: organizers.Account},
	"POST /desk/taxes":                          {need: organizers.Manage, form: "rate.AT.standard=21"},
	"GET /desk/memberships":                     {need: organizers.Manage},
	"POST /desk/memberships":                    {need: organizers.Manage, form: "kind=1&email=new@example.org"},
	"GET /desk/memberships/members.csv":         {need: organizers.Manage},
	"POST /desk/memberships/kinds":              {need: organizers.Manage, form: "name=Patrons&price=5&currency=EUR&months=12"},
	"POST /desk/memberships/imports":            {need: organizers.Manage, form: "kind=1&members=new@example.org"},
	"POST /desk/memberships/{membership}/end":   {need: organizers.Manage},
	"GET /desk/customers":                       {need: organizers.Manage},
	"GET /desk/customers/{id}":                  {need: organizers.Manage},
	"POST /desk/customers/{id}":                 {need: organizers.Manage, form: "note=likes+the+aisle"},
	"GET /desk/customers/duplicates":            {need: organizers.Manage},
	"POST /desk/customers/imports":              {need: organizers.Manage, form: "customers=email%0Anew@example.org"},
	"POST /desk/customers/{id}/merges":          {need: organizers.Manage, refuses: true},
	"POST /desk/customers/{id}/separations":     {need: organizers.Manage, refuses: true},
	"GET /desk/books":                           {need: organizers.Account},
	"GET /desk/books/email":                     {need: organizers.Account},
	"POST /desk/books/email":                    {need: organizers.Account, form: "every=month"},
	"GET /desk/books/accounts":                  {need: organizers.Account},
	"POST /desk/books/accounts":                 {need: organizers.Account, form: "digits=4"},
	"GET /desk/books/payouts":                   {need: organizers.Account},
	"POST /desk/books/payouts":                  {need: organizers.Account},
	"GET /desk/books/payouts/{file}":            {need: organizers.Account},
	"GET /desk/books/{file}":                    {need: organizers.Account},
	"GET /desk/invoices":                        {need: organizers.Account},
	"POST /desk/invoices":                       {need: organizers.Own, proved: true, form: "name="},
	"GET /desk/invoices/{file}":                 {need: organizers.Account},
	"GET /desk/bank":                            {need: organizers.Account},
	"POST /desk/bank":                           {need: organizers.Own, proved: true},
	"POST /desk/bank/statements":                {need: organizers.Account},
	"POST /desk/bank/matches":                   {need: organizers.Account},
	"POST /desk/bank/entries/{id}":              {need: organizers.Account, form: "aside=yes"},
	"POST /desk/imports":                        {need: organizers.Manage},
	"GET /desk/imports/{id}":                    {need: organizers.Manage},
	"POST /desk/imports/{id}":                   {need: organizers.Manage},

	// How organizers get in and out.
	"GET /desk/session":               anyone,
	"POST /desk/session":              anyone,
	"DELETE /desk/session":            anyone,
	"POST /desk/session/end":          anyone,
	"GET /desk/session/second":        anyone,
	"POST /desk/session/second":       anyone,
	"POST /desk/session/options":      anyone,
	"POST /desk/session/passkey":      anyone,
	"GET /desk/session/openid":        anyone,
	"GET /desk/session/openid/return": anyone,
	"GET /desk/setup/{token}":         anyone,
	"POST /desk/setup/{token}":        anyone,
	"GET /desk/invitations/{token}":   anyone,
	"POST /desk/invitations/{token}":  anyone,
	"GET /desk/password":              anyone,
	"POST /desk/password":             anyone,
	"GET /desk/password/{token}":      anyone,
	"POST /desk/password/{token}":     anyone,

	// What attendees come for. A role at the desk makes no difference there.
	"GET /{$}":                                   anyone,
	"GET /events":                                anyone,
	"GET /arena":                                 anyone,
	"GET /events.ics":                            anyone,
	"GET /events.atom":                           anyone,
	"GET /sitemap.xml":                           anyone,
	"GET /robots.txt":                            anyone,
	"GET /embed.js":                              anyone,
	"GET /tls-domain":                            anyone,
	"GET /events/{slug}/embed":                   anyone,
	"GET /events/{slug}/badge":                   anyone,
	"GET /events/{slug}/fairness":                anyone,
	"GET /events/{slug}/fairness.csv":            anyone,
	"GET /events/{slug}/log":                     anyone,
	"GET /events/{slug}/log/checkpoint":          anyone,
	"GET /events/{slug}/log/cosigned":            anyone,
	"GET /events/{slug}/log/key":                 anyone,
	"GET /events/{slug}/log/tile/{tile...}":      anyone,
	"GET /series/{slug}/embed":                   anyone,
	"GET /series/{slug}/badge":                   anyone,
	"GET /events/{slug}/card/{file}":             anyone,
	"GET /series/{slug}":                         anyone,
	"GET /subscriptions/{slug}":                  anyone,
	"POST /subscriptions/{slug}/holds":           anyone,
	"POST /subscriptions/{slug}/hold/extension":  anyone,
	"GET /subscriptions/{slug}/checkout":         anyone,
	"POST /subscriptions/{slug}/orders":          anyone,
	"GET /renewals/{code}":                       anyone,
	"POST /renewals/{code}/holds":                anyone,
	"GET /renewals/{code}/checkout":              anyone,
	"POST /renewals/{code}/orders":               anyone,
	"GET /series/{slug}/calendar.ics":            anyone,
	"GET /series/{slug}/card/{file}":             anyone,
	"GET /events/{slug}":                         anyone,
	"GET /events/{slug}/map":                     anyone,
	"GET /events/{slug}/proposals":               anyone,
	"GET /events/{slug}/views/{plan}/{file}":     anyone,
	"GET /pictures/{file}":                       anyone,
	"GET /events/{slug}/sections/{section}":      anyone,
	"GET /events/{slug}/seats":                   anyone,
	"GET /events/{slug}/map.bin":                 anyone,
	"GET /events/{slug}/geometry/{file}":         anyone,
	"GET /events/{slug}/live":                    anyone,
	"GET /events/{slug}/on-sale.ics":             anyone,
	"POST /events/{slug}/claims":                 anyone,
	"DELETE /events/{slug}/claims/{idx}":         anyone,
	"DELETE /events/{slug}/claims":               anyone,
	"POST /events/{slug}/releases":               anyone,
	"GET /events/{slug}/hold":                    anyone,
	"POST /events/{slug}/hold/extension":         anyone,
	"POST /events/{slug}/codes":                  anyone,
	"POST /events/{slug}/hold/types":             anyone,
	"GET /events/{slug}/checkout":                anyone,
	"POST /events/{slug}/orders":                 anyone,
	"GET /events/{slug}/exchange/{code}":         anyone,
	"POST /events/{slug}/exchange/{code}":        anyone,
	"GET /orders/{code}":                         anyone,
	"GET /orders/{code}/exchange":                anyone,
	"GET /orders/{code}/types":                   anyone,
	"POST /orders/{code}/types":                  anyone,
	"GET /orders/{code}/calendar.ics":            anyone,
	"GET /orders/{code}/receipt.pdf":             anyone,
	"GET /orders/{code}/tickets.pdf":             anyone,
	"GET /orders/{code}/invoices":                anyone,
	"GET /orders/{code}/invoices/{file}":         anyone,
	"POST /orders/{code}/mails":                  anyone,
	"POST /orders/{code}/cancellations":          anyone,
	"POST /orders/{code}/attendances":            anyone,
	"GET /orders/{code}/attendances/{ticket}":    anyone,
	"POST /orders/{code}/details":                anyone,
	"POST /orders/{code}/email-changes":          anyone,
	"POST /orders/{code}/email-changes/stop":     anyone,
	"GET /email-changes/{code}":                  anyone,
	"POST /email-changes/{code}":                 anyone,
	"POST /orders/{code}/transfers":              anyone,
	"POST /orders/{code}/withdrawals":            anyone,
	"POST /orders/{code}/resales":                anyone,
	"POST /orders/{code}/resales/withdrawals":    anyone,
	"GET /deposits/{code}":                       anyone,
	"POST /deposits/{code}/payments":             anyone,
	"GET /deposits/{code}/invoices/{file}":       anyone,
	"GET /resales/{code}":                        anyone,
	"POST /resales/{code}":                       anyone,
	"GET /transfers/{code}":                      anyone,
	"POST /transfers/{code}":                     anyone,
	"GET /tickets/{code}":                        anyone,
	"GET /tickets/{code}/calendar.ics":           anyone,
	"GET /tickets/{code}/tickets.pdf":            anyone,
	"POST /tickets/{code}/attendances":           anyone,
	"GET /tickets/{code}/attendances/{ticket}":   anyone,
	"POST /tickets/{code}/transfers":             anyone,
	"POST /tickets/{code}/withdrawals":           anyone,
	"GET /door/worker.js":                        anyone,
	"GET /door/{secret}":                         anyone,
	"GET /door/{secret}/tickets":                 anyone,
	"POST /door/{secret}/scans":                  anyone,
	"GET /payments/{code}":                       anyone,
	"POST /payments/{code}/stop":                 anyone,
	"GET /legal/{kind}":                          anyone,
	"GET /legal/{team}/{kind}":                   anyone,
	"GET /demo-card/{reference}":                 anyone,
	"POST /demo-card/{reference}":                anyone,
	"POST /webhooks/stripe":                      anyone,
	"GET /account":                               anyone,
	"POST /account/vouchers":                     anyone,
	"POST /account/links":                        anyone,
	"POST /payments/{code}/mails":                anyone,
	"GET /confirmations/{token}":                 anyone,
	"POST /confirmations/{token}":                anyone,
	"GET /account/links/{token}":                 anyone,
	"POST /account/session":                      anyone,
	"POST /account/session/options":              anyone,
	"POST /account/session/passkey":              anyone,
	"POST /account/passkeys/options":             anyone,
	"POST /account/passkeys":                     anyone,
	"POST /account/passkeys/{id}/removal":        anyone,
	"DELETE /account/session":                    anyone,
	"POST /account/session/end":                  anyone,
	"POST /account/sessions/end":                 anyone,
	"GET /personal-data":                         anyone,
	"POST /personal-data":                        anyone,
	"GET /personal-data/{token}":                 anyone,
	"POST /personal-data/{token}":                anyone,
	"GET /unsubscribe/{order}":                   anyone,
	"POST /unsubscribe/{order}":                  anyone,
	"GET /gift-cards":                            anyone,
	"POST /gift-cards":                           anyone,
	"GET /gift-cards/{code}":                     anyone,
	"GET /gift-cards/{code}/card.pdf":            anyone,
	"GET /rooms/{slug}":                          anyone,
	"GET /rooms/{slug}/status":                   anyone,
	"GET /rooms/{slug}/live":                     anyone,
	"GET /rooms/{slug}/draw":                     anyone,
	"GET /rooms/{slug}/work":                     anyone,
	"GET /rooms/{slug}/draw.json":                anyone,
	"GET /rooms/{slug}/waits":                    anyone,
	"GET /rooms/{slug}/waits.json":               anyone,
	"GET /rooms/{slug}/fairness":                 anyone,
	"GET /rooms/{slug}/fairness.csv":             anyone,
	"POST /rooms/{slug}/places":                  anyone,
	"POST /rooms/{slug}/presence":                anyone,
	"POST /rooms/{slug}/admissions":              anyone,
	"POST /rooms/{slug}/departure":               anyone,
	"POST /rooms/{slug}/notifications":           anyone,
	"GET /push.js":                               anyone,
	"GET /rooms/{slug}/invitations/{invitation}": anyone,
	"GET /openapi.yaml":                          anyone,
	"GET /.well-known/security.txt":              anyone,
	"GET /healthz":                               anyone,
	"GET /readyz":                                anyone,
	"GET /orders/{code}/apple-wallet/{ticket}":   anyone,
	"GET /orders/{code}/google-wallet/{ticket}":  anyone,
	"GET /tickets/{code}/apple-wallet/{ticket}":  anyone,
	"GET /tickets/{code}/google-wallet/{ticket}": anyone,
	"POST /wallets/{language}/v1/devices/{device}/registrations/{type}/{serial}":   anyone,
	"DELETE /wallets/{language}/v1/devices/{device}/registrations/{type}/{serial}": anyone,
	"GET /wallets/{language}/v1/devices/{device}/registrations/{type}":             anyone,
	"GET /wallets/{language}/v1/passes/{type}/{serial}":                            anyone,
	"POST /wallets/{language}/v1/log":                                              anyone,

	// The waiting list: the address of an entry is its capability.
	"GET /events/{slug}/challenge":        anyone,
	"POST /events/{slug}/challenge":       anyone,
	"GET /events/{slug}/waitlist":         anyone,
	"POST /events/{slug}/waitlist":        anyone,
	"GET /waitlist/{code}":                anyone,
	"POST /waitlist/{code}":               anyone,
	"POST /waitlist/{code}/confirm":       anyone,
	"POST /waitlist/{code}/card":          anyone,
	"POST /waitlist/{code}/take":          anyone,
	"POST /waitlist/{code}/decline":       anyone,
	"POST /waitlist/{code}/leave":         anyone,
	"POST /waitlist/{code}/notifications": anyone,
}

// thing is what an address names: one of the reader's team, one of another team, and one that is not there.
type thing struct{ own, foreign, none string }

// things are what stands for the {…} of addresses, by the address up to it. A route of the desk with another {…} adds a
// line here, and plant makes those that are there. PASSKEY is the caller's.
func (w *wall) things() map[string]thing {
	return map[string]thing{
		"/desk/events/{slug}":                     {"evening", "theirs", "nothing"},
		"/desk/events/{slug}/orders/{code}":       {w.id("SELECT code AS id FROM orders WHERE name = 'Own'"), w.id("SELECT code AS id FROM orders WHERE name = 'Foreign'"), "00000000000000000000000000"},
		"/desk/events/{slug}/till/tickets/{code}": {w.id("SELECT code AS id FROM orders WHERE name = 'Own'"), w.id("SELECT code AS id FROM orders WHERE name = 'Foreign'"), "00000000000000000000000000"},
		"/desk/till/sessions/{id}":                {w.id("SELECT id FROM till_session WHERE who = 'OWN'"), w.id("SELECT id FROM till_session WHERE who = 'FOREIGN'"), "999999"},
		"/desk/till/sessions/{file}":              {w.id("SELECT id FROM till_session WHERE who = 'OWN'"), w.id("SELECT id FROM till_session WHERE who = 'FOREIGN'"), "999999"},
		"/desk/till/payments/{code}":              {"AAAAAAAAAAAAAAAAAAAAAAAAA0", "AAAAAAAAAAAAAAAAAAAAAAAAA1", "00000000000000000000000000"},
		"/desk/till/days/{file}":                  {"2030-05-01.csv", "x.csv", "x.csv"},
		"/desk/events/{slug}/seats/{idx}":         {"0", "99999", "99999"},
		"/desk/events/{slug}/pictures/{id}":       {w.id("SELECT p.id FROM event_picture p JOIN event e ON e.id = event_id WHERE slug = 'evening'"), w.id("SELECT p.id FROM event_picture p JOIN event e ON e.id = event_id WHERE slug = 'theirs'"), "999999"},
		"/desk/events/{slug}/exports/{file}":      {"orders.csv", "secrets.csv", "secrets.csv"},
		"/desk/events/{slug}/blocks/{block}":      {w.id("SELECT id FROM block WHERE owner = 'Own'"), w.id("SELECT id FROM block WHERE owner = 'Foreign'"), seats.NewID().String()},
		"/desk/events/{slug}/guests/{guest}":      {w.id("SELECT id FROM guest WHERE name = 'Own'"), w.id("SELECT id FROM guest WHERE name = 'Foreign'"), seats.NewID().String()},
		"/desk/events/{slug}/bookings/{booking}":  {w.id("SELECT b.id FROM booking b JOIN event e ON e.id = event_id WHERE slug = 'evening' ORDER BY n LIMIT 1"), w.id("SELECT b.id FROM booking b JOIN event e ON e.id = event_id WHERE slug = 'theirs'"), seats.NewID().String()},
		"/desk/events/{slug}/messages/{message}":  {w.id("SELECT id FROM message WHERE subject = 'Own'"), w.id("SELECT id FROM message WHERE subject = 'Foreign'"), "00000000-0000-4000-8000-000000000000"},
		"/desk/events/{slug}/doors/{door}":        {w.id("SELECT max(id) AS id FROM door WHERE event_id = (SELECT id FROM event WHERE slug = 'evening')"), w.id("SELECT max(id) AS id FROM door WHERE event_id = (SELECT id FROM event WHERE slug = 'theirs')"), "999999"},
		"/desk/events/{slug}/shares/{id}":         {w.id("SELECT id FROM share WHERE name = 'Own'"), w.id("SELECT id FROM share WHERE name = 'Foreign'"), "999999"},
		"/desk/team/members/{id}":                 {w.id("SELECT id FROM organizer WHERE name = 'Extra'"), w.id("SELECT id FROM organizer WHERE name = 'Stranger'"), "999999"},
		"/desk/team/invitations/{id}":             {w.id("SELECT id FROM invitation WHERE email = 'extra@example.org'"), w.id("SELECT id FROM invitation WHERE email = 'stranger@example.org'"), "999999"},
		"/desk/hooks/{id}":                        {w.id("SELECT id FROM hook WHERE url LIKE '%own'"), w.id("SELECT id FROM hook WHERE url LIKE '%foreign'"), "999999"},
		"/desk/hooks/{id}/notices/{notice}":       {w.delivery("own"), w.delivery("foreign"), seats.NewID().String()},
		"/desk/keys/{id}":                         {w.id("SELECT id FROM api_key WHERE name = 'Extra'"), w.id("SELECT id FROM api_key WHERE name = 'Stranger'"), "999999"},
		"/desk/site/keys/{id}":                    {w.id("SELECT id FROM team_site_key WHERE key LIKE '%OWN'"), w.id("SELECT id FROM team_site_key WHERE key LIKE '%FOREIGN'"), "999999"},
		"/desk/account/sessions/{id}":             {"SESSION", w.id("SELECT min(s.id) AS id FROM desk_session s JOIN organizer o ON o.id = s.organizer_id WHERE o.name = 'Stranger'"), "999999"},
		"/desk/account/passkeys/{id}":             {"PASSKEY", base64.RawURLEncoding.EncodeToString([]byte("foreign")), "bm9uZQ"},
		"/desk/plans/{plan}":                      {w.plans[0], w.plans[1], "999"},
		"/desk/plans/{plan}/versions/{file}":      {"1.json", "2.json", "x.json"},
		"/desk/memberships/{membership}":          {w.id("SELECT id FROM membership WHERE name = 'Own'"), w.id("SELECT id FROM membership WHERE name = 'Foreign'"), seats.NewID().String()},
		"/desk/plans/{plan}/pictures/{picture}":   {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccccccccccccc"},
		"/desk/customers/{id}":                    {w.id("SELECT o.id::text AS id FROM orders o JOIN event e ON e.id = event_id WHERE slug = 'evening' AND o.email <> '' LIMIT 1"), w.id("SELECT o.id::text AS id FROM orders o JOIN event e ON e.id = event_id WHERE slug = 'theirs' LIMIT 1"), seats.NewID().String()},
		"/desk/books/payouts/{file}":              {"po_own", "po_foreign", "po_none"},
		"/desk/books/{file}":                      {"report.csv", "secrets.csv", "secrets.csv"},
		"/desk/invoices/{file}":                   {w.id("SELECT label || '.pdf' AS id FROM invoice WHERE label LIKE 'OWN%'"), w.id("SELECT label || '.pdf' AS id FROM invoice WHERE label LIKE 'FOREIGN%'"), "2030-000001.pdf"},
		"/desk/bank/entries/{id}":                 {w.entry("own"), w.entry("foreign"), seats.NewID().String()},
		"/desk/gift-cards/{id}":                   {w.id("SELECT id::text AS id FROM gift_card WHERE code = 'OWN'"), w.id("SELECT id::text AS id FROM gift_card WHERE code = 'FOREIGN'"), seats.NewID().String()},
		"/desk/series/{series}":                   {"own", "foreign", "none"},
		"/desk/subscriptions/{subscription}":      {"own-season", "foreign-season", "none"},
		"/desk/imports/{id}":                      {w.imports[0], w.imports[1], seats.NewID().String()},
	}
}

// plant makes things of the first team and of the other one.
func (w *wall) plant(t *testing.T) {
	t.Helper()
	for prefix, team := range map[string]int64{"OWN": w.sale.Event.Team, "FOREIGN": w.team} {
		w.exec(t, `WITH v AS (INSERT INTO credit_voucher (code, currency, amount) VALUES (sha256(convert_to($2, 'UTF8')), 'EUR', 1000) RETURNING id)
			INSERT INTO gift_card (id, team_id, code, currency, amount, buyer, recipient, giver, message, method, state, voucher_id, secret, issued_at)
			SELECT gen_random_uuid(), $1, $2, 'EUR', 1000, 'a@example.org', 'b@example.org', '', '', 'card', 'issued', id, '', now() FROM v`, team, prefix)
		w.exec(t, `WITH o AS (INSERT INTO payout (id, team_id, teams, status, currency, amount, created_at, arrives_on, automatic, read_at)
				VALUES ('po_' || lower($2), $1, ARRAY[$1::bigint], 'paid', 'EUR', 100, '2030-05-01', '2030-05-03', true, now()) RETURNING id)
			INSERT INTO payout_line (id, payout_id, kind, type, source, at, amount, fee, net, charged, charged_currency)
			SELECT 'txn_' || o.id, o.id, 'charge', 'charge', 'ch_x', '2030-04-30', 110, 10, 100, 110, 'EUR' FROM o`, team, prefix)
		w.exec(t, `INSERT INTO till_session (team_id, organizer_id, who, currency, zone, opening) VALUES ($1, 0, $2, 'EUR', 'UTC', 0)`, team, prefix)
		w.exec(t, `INSERT INTO team_site_key (team_id, key) VALUES ($1, 'site_' || lpad($2, 26, 'A'))`, team, prefix)
		w.exec(t, `INSERT INTO invoice_sender (team_id, name, street, postcode, city, country, vat_id, prefix) VALUES ($1, 'Haus', 'Ring 1', '1010', 'Wien', 'AT', 'ATU13585627', $2)`, team, prefix)
	}
	w.atReader(t, "evening", "AAAAAAAAAAAAAAAAAAAAAAAAA0")
	w.atReader(t, "theirs", "AAAAAAAAAAAAAAAAAAAAAAAAA1")
	for slug, name := range map[string]string{"evening": "Own", "theirs": "Foreign"} {
		s, err := w.office.Sale(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		code, err := w.sold.SellAtOffice(t.Context(), s, orders.OfficeForm{Key: name, Name: name, Email: "ann@example.org", Seats: []int{0}, Method: payments.Cash}, nil)
		if err == nil {
			_, err = w.config.Invoices.Of(t.Context(), code)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.exec(t, `WITH s AS (INSERT INTO series (team_id, slug, lead_id) SELECT team_id, CASE slug WHEN 'evening' THEN 'own' ELSE 'foreign' END, id FROM event RETURNING id, lead_id),
		p AS (INSERT INTO performance (event_id, texts, prices, settings) SELECT lead_id, '', '', '' FROM s)
		UPDATE event SET series_id = s.id FROM s WHERE s.lead_id = event.id`)
	w.exec(t, `WITH s AS (INSERT INTO subscription (team_id, slug, name, currency, closes_at)
			SELECT team_id, CASE slug WHEN 'evening' THEN 'own' ELSE 'foreign' END || '-season', 'Season', currency, now() + interval '1 year' FROM event WHERE slug IN ('evening', 'theirs') RETURNING id, team_id)
		INSERT INTO subscription_price (subscription_id, event_id, category, price) SELECT s.id, e.id, 'A', 900 FROM s JOIN event e ON e.team_id = s.team_id AND e.slug IN ('evening', 'theirs')`)
	w.exec(t, `INSERT INTO event_picture (event_id, kind, section, hash, widths, width, height, alt) SELECT id, 'view', 'Balcony', repeat('0', 32), '{480}', 480, 300, 'x' FROM event`)
	w.exec(t, `INSERT INTO door (event_id, secret) SELECT id, sha256(convert_to(slug, 'UTF8')) FROM event`)
	w.exec(t, `INSERT INTO message (id, event_id, subject, text) SELECT gen_random_uuid(), id, CASE slug WHEN 'evening' THEN 'Own' ELSE 'Foreign' END, 'x' FROM event`)
	w.exec(t, `INSERT INTO errand (id, event_id, kind, message_id, send_at, taken_until) SELECT id, event_id, 'message', id, '2100-01-01', '2100-01-01' FROM message WHERE subject IN ('Own', 'Foreign')`)
	w.exec(t, `INSERT INTO membership_kind (team_id, name, currency, price, months) SELECT team_id, 'Freundeskreis', 'EUR', 4500, 12 FROM event WHERE slug IN ('evening', 'theirs') GROUP BY team_id ORDER BY team_id <> (SELECT team_id FROM event WHERE slug = 'evening')`)
	w.exec(t, `INSERT INTO membership (id, team_id, kind_id, name, email, from_on, until_on, currency, price, given_by)
		SELECT gen_random_uuid(), k.team_id, k.id, CASE e.slug WHEN 'evening' THEN 'Own' ELSE 'Foreign' END, e.slug || '@example.org', '2020-01-01', '2099-12-31', 'EUR', 4500, 'x' FROM membership_kind k JOIN event e ON e.team_id = k.team_id WHERE e.slug IN ('evening', 'theirs')`)
	w.exec(t, `INSERT INTO guest (id, event_id, name, places) SELECT gen_random_uuid(), id, CASE slug WHEN 'evening' THEN 'Own' ELSE 'Foreign' END, 1 FROM event WHERE slug IN ('evening', 'theirs')`)
	w.exec(t, `INSERT INTO block (id, event_id, seats, owner) SELECT gen_random_uuid(), id, '{0}', CASE slug WHEN 'evening' THEN 'Own' ELSE 'Foreign' END FROM event WHERE slug IN ('evening', 'theirs')`)
	w.exec(t, `WITH k AS (INSERT INTO block (id, event_id, seats, kind, ends_at) SELECT gen_random_uuid(), id, '{0}', 'group', starts_at FROM event WHERE slug IN ('evening', 'theirs') RETURNING id, event_id)
		INSERT INTO booking (id, event_id, name, places) SELECT k.id, e.id, CASE slug WHEN 'evening' THEN 'Own' ELSE 'Foreign' END, 1 FROM k JOIN event e ON e.id = k.event_id`)
	w.exec(t, `INSERT INTO share (event_id, token, name, maker, expires_at) SELECT id, sha256(convert_to(slug, 'UTF8')), CASE slug WHEN 'evening' THEN 'Own' ELSE 'Foreign' END, 'x', clock_timestamp() + interval '1 day' FROM event`)
	for name, team := range map[string]int64{"Extra": w.sale.Event.Team, "Stranger": w.team} {
		w.exec(t, `WITH o AS (INSERT INTO organizer (email, name) VALUES (lower($1) || '.member@example.org', $1) RETURNING id)
			INSERT INTO member (team_id, organizer_id, role) SELECT $2, id, 'manager' FROM o`, name, team)
		w.exec(t, `INSERT INTO invitation (team_id, email, role) VALUES ($2, lower($1) || '@example.org', 'viewer')`, name, team)
	}
	w.exec(t, `INSERT INTO api_key (team_id, organizer_id, name, scopes, hash, start) SELECT m.team_id, o.id, o.name, '{look}', sha256(convert_to(o.name, 'UTF8')), 'usher_'
		FROM organizer o JOIN member m ON m.organizer_id = o.id WHERE o.name IN ('Extra', 'Stranger')`)
	for owner, team := range map[string]int64{"own": w.sale.Event.Team, "foreign": w.team} {
		w.exec(t, `WITH h AS (INSERT INTO hook (team_id, url, kinds) VALUES ($1, 'http://127.0.0.1:1/' || $2, '{order.confirmed}') RETURNING id),
			s AS (INSERT INTO hook_secret (hook_id, secret) SELECT id, sha256('x') FROM h) INSERT INTO notice (hook_id, kind, data) SELECT id, 'test', '{}' FROM h`, team, owner)
	}
	for owner, team := range map[string]int64{"own": w.sale.Event.Team, "foreign": w.team} {
		w.exec(t, `WITH s AS (INSERT INTO statement (id, team_id, hash, name, format, entries, fresh) VALUES (gen_random_uuid(), $1, sha256('x'), 'a.csv', 'CSV', 1, 1) RETURNING id)
			INSERT INTO statement_entry (id, team_id, statement_id, key, booked_on, amount, currency, payer) SELECT gen_random_uuid(), $1, id, sha256('x'), '2030-03-01', 100, 'EUR', $2 FROM s`, team, owner)
	}
	w.exec(t, `INSERT INTO desk_session (organizer_id, agent, network, second) SELECT id, '', '', false FROM organizer`)
	w.exec(t, `INSERT INTO passkey (id, organizer_id, name, credential) SELECT convert_to(role, 'UTF8'), organizer_id, 'Phone', '{}' FROM member WHERE team_id = $1 ON CONFLICT DO NOTHING`, w.sale.Event.Team)
	w.exec(t, `INSERT INTO passkey (id, organizer_id, name, credential) SELECT 'foreign', id, 'Phone', '{}' FROM organizer WHERE name = 'Stranger'`)
}

// delivery is one for a hook of that owner.
func (w *wall) delivery(owner string) string {
	return w.id("SELECT n.id FROM notice n JOIN hook h ON h.id = n.hook_id WHERE h.url LIKE '%" + owner + "'")
}

// entry is one of a statement of that owner.
func (w *wall) entry(owner string) string {
	return w.id("SELECT id FROM statement_entry WHERE payer = '" + owner + "'")
}

// id reads a number that a database gave.
func (w *wall) id(sql string) string {
	var id string
	if err := w.db.QueryRow(context.Background(), "SELECT id::text FROM ("+sql+") found").Scan(&id); err != nil {
		return err.Error() // an address with that in it is none
	}
	return id
}
