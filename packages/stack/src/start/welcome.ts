import { dirname, join } from 'node:path';
import type { Connection } from './connection-file.ts';

/** Returns the text that is printed when everything is ready: URLs, and commands to paste. */
export function formatWelcome(
  connection: Connection,
  facts: {
    root: string;
    connectionPath: string;
    logDirectory: string;
    log: string;
    consoleUrl: string | null;
    exampleUrl: string | null;
  },
) {
  const { ingestUrl, apiUrl, shopUrl, organizationId, projectId, projectApiKey, personalApiKey } = connection;
  const event = `{"api_key":"${projectApiKey}","event":"hello","distinct_id":"you","properties":{"from":"curl"}}`;
  return `
Millrace is running on ${facts.log}.
${facts.consoleUrl ? `\n  Console           ${facts.consoleUrl}\n                    this link signs you in. It works once and expires after an hour\n` : ''}${facts.exampleUrl ? `  Example           ${facts.exampleUrl}\n                    a separate project with 30 days of sample data from a shop\n` : ''}
  Events            ${ingestUrl}      set this as the host of your SDK
  API               ${apiUrl}
  Demo shop         ${shopUrl}     a web page that sends events
  Project API key   ${projectApiKey}
  Personal API key  ${personalApiKey}
  Organization      ${organizationId}, with an owner and a member
  Project           ${projectId}

Send an event:

  curl -s -X POST ${ingestUrl}/capture/ -H 'Content-Type: application/json' -d '${event}'

See it arrive:

  sleep 1; curl -s -H 'Authorization: Bearer ${personalApiKey}' '${apiUrl}/api/projects/${projectId}/events/?event=hello'

Evaluate the feature flags of the demo project:

  curl -s -X POST '${ingestUrl}/flags/?v=2' -H 'Content-Type: application/json' -d '{"api_key":"${projectApiKey}","distinct_id":"you"}'

Use the command line, in ${facts.root}:

  ${commandLine(facts)} flags list

Addresses and keys for scripts: ${facts.connectionPath}
Logs: ${facts.logDirectory}
Press Ctrl-C to stop Millrace. Your data is kept.
`;
}

/**
 * Returns the start of a `millrace` command. It passes the data directory if it is not the default, because `millrace`
 * finds the system by its data directory.
 */
function commandLine({ root, connectionPath }: { root: string; connectionPath: string }): string {
  const directory = dirname(connectionPath);
  const isUsual = directory === join(root, '.millrace');
  return isUsual ? 'npx millrace' : `MILLRACE_DATA_DIR='${directory.replaceAll("'", `'\\''`)}' npx millrace`;
}
