// `helm test`: creates a separate organization, sends an event, reads the event back from the API, requests flags, and deletes the
// organization. The test uses the image's `millrace` command, so it does not need any keys.
// Arguments: the URLs of the gateway, the flags deployment and the API, and the number of seconds after which the test gives up and
// cleans up.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const [ingest, flags, api, seconds] = process.argv.slice(2);
/** The deadline for all steps. It leaves a minute before Kubernetes ends the pod, to delete the organization. */
const until = Date.now() + Number(seconds) * 1000;

const millrace = (...words) =>
  JSON.parse(
    execFileSync(process.execPath, ['millrace.mjs', '--json', ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
const say = (sentence) => process.stdout.write(`${sentence}\n`);

/** Repeats a request until it succeeds or the deadline passes. */
async function ask(what, url, options) {
  for (let last = 'no response'; ; await sleep(500)) {
    try {
      const response = await fetch(url, { ...options, signal: AbortSignal.timeout(10_000) });
      const text = await response.text();
      last = `${response.status} ${text.slice(0, 300)}`;
      if (response.ok) return;
    } catch (error) {
      last = `${error.message} ${error.cause?.message ?? ''}`;
    }
    if (Date.now() > until) throw new Error(`${what} failed. Last response from ${url}: ${last}`);
  }
}

const post = (body) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function run(made) {
  const uuid = randomUUID();
  const event = { api_key: made.projectApiKey, event: 'helm test', distinct_id: 'helm-test', uuid };
  const sentAt = Date.now();
  await ask('Sending an event', `${ingest}/capture/`, post(event));
  say(`The gateway accepted the event ${uuid}.`);
  const authorized = { headers: { authorization: `Bearer ${made.personalApiKey}` } };
  await ask('Reading the event from the API', `${api}/api/projects/${made.projectId}/events/${uuid}/`, authorized);
  say(`The API returned the event ${Date.now() - sentAt} ms after it was sent.`);
  await ask('Requesting flags', `${flags}/flags/?v=2`, post({ api_key: made.projectApiKey, distinct_id: 'helm-test' }));
  say('The flag request succeeded.');
}

const made = millrace(
  'bootstrap',
  '--force',
  '--email',
  'helm-test@millrace.invalid',
  '--organization',
  'Helm test',
  '--project',
  'Helm test',
);
try {
  await run(made);
} catch (error) {
  say(error.message);
  process.exitCode = 1;
} finally {
  for (const { id } of millrace('key', 'list', '--user', 'helm-test@millrace.invalid')) millrace('key', 'revoke', id);
  millrace('org', 'delete', '--organization', made.organizationId, '--yes');
}
