// `helm test`: makes an organization of its own, sends an event, reads it back over the API, asks for flags, and deletes the
// organization. Uses the command line of the image, so that nobody has to hand keys to a test.
// Arguments: where the gateway, flags and the API are, and the seconds after which it gives up and cleans up behind itself.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const [ingest, flags, api, seconds] = process.argv.slice(2);
/** Of all steps together: the pod is ended a minute later, and would leave its organization behind. */
const until = Date.now() + Number(seconds) * 1000;

const millrace = (...words) =>
  JSON.parse(
    execFileSync(process.execPath, ['millrace.mjs', '--json', ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
const say = (sentence) => process.stdout.write(`${sentence}\n`);

/** Asks an address again and again, until it answers with 200 or time is over. */
async function ask(what, url, options) {
  for (let last = 'no answer'; ; await sleep(500)) {
    try {
      const response = await fetch(url, { ...options, signal: AbortSignal.timeout(10_000) });
      const text = await response.text();
      last = `${response.status} ${text.slice(0, 300)}`;
      if (response.ok) return;
    } catch (error) {
      last = `${error.message} ${error.cause?.message ?? ''}`;
    }
    if (Date.now() > until) throw new Error(`${what}: ${url} did not answer as it should: ${last}`);
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
  await ask('sending an event', `${ingest}/capture/`, post(event));
  say(`The gateway has taken the event ${uuid}.`);
  const authorized = { headers: { authorization: `Bearer ${made.personalApiKey}` } };
  await ask('reading it back', `${api}/api/projects/${made.projectId}/events/${uuid}/`, authorized);
  say(`The API shows it, ${Date.now() - sentAt} ms after it was sent.`);
  await ask('asking for flags', `${flags}/flags/?v=2`, post({ api_key: made.projectApiKey, distinct_id: 'helm-test' }));
  say('Flags are answered.');
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
