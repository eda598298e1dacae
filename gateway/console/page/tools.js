// What an MCP server offers, as its card says it.

const extension = "urn:cardea:a2a:extension:mcp:v1";
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const listOf = (value) => (Array.isArray(value) ? value.filter(isObject) : []);

// The tools of a card, in the server's own words where it has them.
export function toolsOf(card) {
  const facts = listOf(card?.capabilities?.extensions).find((each) => each.uri === extension)?.params;
  const tools = facts ? listOf(facts.tools) : listOf(card?.skills).map((each) => ({ ...each, name: each.id ?? each.name }));
  return tools.filter((each) => typeof each.name === "string");
}
