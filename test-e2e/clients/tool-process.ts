import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { RunningServices } from '../support/start-services.ts';

export interface ToolProcess {
  /** @throws Error with the tool's error output */
  call(name: string, given?: object): Promise<unknown>;
  stop(): void;
}

/** Starts a program that reads one call per line and writes one result per line. */
export function startToolProcess(command: readonly string[], env: Record<string, string>): ToolProcess {
  const [program = '', ...words] = command;
  const child = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-2000);
  });
  const results = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async call(name, given = {}) {
      child.stdin.write(`${JSON.stringify({ name, arguments: given })}\n`);
      const { value, done } = await results.next();
      if (done) throw new Error(`${program} ended: ${complaints}`);
      const parsed = JSON.parse(value) as { result?: unknown; error?: string };
      if (parsed.error !== undefined) throw new Error(`${name}: ${parsed.error}`);
      return parsed.result;
    },
    stop() {
      child.kill('SIGKILL');
    },
  };
}

/** Returns environment variables with the server, key and project, for programs that were written for PostHog. */
export const createToolEnvironment = ({ apiUrl, tenant }: RunningServices, home: string) => ({
  HOME: home,
  POSTHOG_SERVER_URL: apiUrl,
  POSTHOG_HOST: apiUrl,
  POSTHOG_PERSONAL_API_KEY: tenant.personalApiKey,
  POSTHOG_API_KEY: tenant.personalApiKey,
  POSTHOG_PROJECT_ID: String(tenant.projectId),
});
