/**
 * Calls tools of @posthog/agent-toolkit. Each input line is a JSON-encoded call, and each output line is a result or an
 * error.
 */
import { createInterface } from 'node:readline';

// biome-ignore lint/style/noProcessEnv: a separate program, whose key must not be visible in its arguments
const { TOOLKIT = '', POSTHOG_PERSONAL_API_KEY, POSTHOG_SERVER_URL } = process.env;
const { PostHogAgentToolkit } = await import(TOOLKIT);
const toolkit = new PostHogAgentToolkit({
  posthogApiToken: POSTHOG_PERSONAL_API_KEY,
  posthogApiBaseUrl: POSTHOG_SERVER_URL,
});
const context = toolkit.getContext();
const tools = new Map((await toolkit.getTools()).map((tool) => [tool.name, tool]));

for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await callTool(call))}\n`);
}

async function callTool({ name, arguments: given }) {
  try {
    const tool = tools.get(name);
    const { content } = await tool.handler(context, tool.schema.parse(given));
    return { result: parsed(content[0].text) };
  } catch (error) {
    return { error: String(error.message ?? error) };
  }
}

/** Parses a tool's output as JSON. Some tools return a plain sentence, which is then returned unchanged. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
