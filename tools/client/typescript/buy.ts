// Buys two tickets with the client that openapi-typescript makes of handlers/openapi.yaml.
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const [baseUrl, slug] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl });

// The session is a cookie, which fetch does not keep outside of browsers.
let cookie = "";
client.use({
  onRequest({ request }) {
    if (cookie) request.headers.set("Cookie", cookie);
    return request;
  },
  onResponse({ response }) {
    const set = response.headers.getSetCookie().map((c) => c.split(";")[0]);
    if (set.length > 0) cookie = set.join("; ");
  },
});

const path = { slug };
const held = await client.POST("/events/{slug}/claims", { params: { path }, body: { best: 2, category: "A" } });
if (!held.data) throw new Error(`the claim: ${JSON.stringify(held.error)}`);
const { id, seats, total } = held.data.hold;

const other = await client.POST("/events/{slug}/orders", { params: { path }, body: { hold: id, seats: seats.slice(1), name: "Bob", email: "bob@example.org" } });
if (!other.error || !("code" in other.error) || !other.error.code) throw new Error(`an order of other seats: ${JSON.stringify(other)}`);

const placed = await client.POST("/events/{slug}/orders", { params: { path }, body: { hold: id, seats, total, name: "Bob", email: "bob@example.org" } });
if (placed.response.status !== 201 || !placed.data || !("order" in placed.data)) throw new Error(`the order: ${JSON.stringify(placed.error)}`);

const order = await client.GET("/orders/{code}", { params: { path: { code: placed.data.order.code } } });
console.log(`bought ${order.data?.order.tickets.length} tickets`);
