// `millrace snippet`: prints the HTML that loads the browser library on a website.

import { buildPageSnippet } from '@millrace/browser/page-snippet';
import type { Command } from 'commander';
import { Refusal, UsageError } from '../failures.ts';
import { describeBody, describeNetworkError } from '../http.ts';
import { requireServerUrl } from '../options.ts';
import type { Terminal } from '../output.ts';
import type { GlobalOptions } from '../session.ts';

interface SnippetOptions {
  host?: string;
  projectApiKey?: string;
  pin?: boolean;
}

interface Contents {
  version: string | null;
  versions: Record<string, Record<string, { integrity: string }>>;
}

const timeoutMs = 30_000;

export function addSnippetCommand(program: Command, terminal: Terminal): void {
  program
    .command('snippet')
    .description('print a snippet for the head of a web page. The page then sends its events to this installation')
    .option('--host <url>', 'URL of the gateway for browsers (default: INGEST_URL)')
    .option('--project-api-key <key>', 'project API key of the environment, phc_… (default: PROJECT_API_KEY)')
    .option(
      '--pin',
      'pin the current version of the library and include its digest, which browsers verify. Settings are loaded separately',
    )
    .action(async (options: SnippetOptions, command: Command) => {
      const host = requireServerUrl(options.host || terminal.env.INGEST_URL, {
        option: '--host',
        missing: 'Pass the URL of the gateway, or set INGEST_URL.',
        example: 'https://events.example.com',
      });
      const key = options.projectApiKey || terminal.env.PROJECT_API_KEY;
      if (!key)
        throw new UsageError('--project-api-key: Pass the project API key of an environment, or set PROJECT_API_KEY.');
      const { version, versions } = await fetchContents(host);
      if (version === null) throw new Refusal(`--host: The gateway at ${host} was built without the browser library.`);
      const integrity = versions[version]?.['array.js']?.integrity;
      const src = options.pin
        ? `${host}/static/${version}/array.js`
        : `${host}/array/${encodeURIComponent(key)}/array.js`;
      const snippet = buildPageSnippet(key, { src, integrity: options.pin ? integrity : undefined });
      const isJson = command.optsWithGlobals<GlobalOptions>().json === true;
      terminal.out.write(`${isJson ? JSON.stringify({ version, src, integrity, snippet }, null, 2) : snippet}\n`);
    });
}

async function fetchContents(host: string): Promise<Contents> {
  let text: string;
  try {
    const response = await fetch(`${host}/static/library.json`, { signal: AbortSignal.timeout(timeoutMs) });
    text = await response.text();
    if (!response.ok) {
      throw new Refusal(
        `--host: ${host} is not a Millrace gateway. It responded with ${response.status}${describeBody(text)}`,
      );
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`--host: Could not reach the gateway at ${host} (${describeNetworkError(error)}).`);
  }
  try {
    const contents = JSON.parse(text) as Contents;
    if (typeof contents.versions === 'object') return contents;
  } catch {
    // Ignore the parse error, because the error below reports every unexpected response.
  }
  throw new Refusal(`--host: ${host} is not a Millrace gateway.`);
}
