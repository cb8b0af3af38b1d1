import { setTimeout as pause } from 'node:timers/promises';
import { createPasswords } from '@millrace/accounts';
import { compilePrograms, testServers } from '@millrace/testing';
import { type MeasuredProcess, startMeasured, waitUntilReady } from './process/measured-process.ts';
import { median, percentile, processorFacts, report, serverFacts, statusesIn, textTable } from './report/report.ts';
import { type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';

const password = 'a long enough password of a bench';
/** Of scripts that list projects while others sign in. */
const listsPerSecond = 20;
const wrongPerMinute = 10_000;
/** More sign-ins at once than fit into the queue. */
const atOnce = 40;
const sessionRequests = 1500;

/** What passwords cost those who sign in, and everybody else meanwhile. */
export async function benchSignIn({ seconds }: { seconds: number }, print: (line: string) => void): Promise<void> {
  const database = await createBenchDatabase(`phc_bench_${crypto.randomUUID().replaceAll('-', '')}`);
  let api: MeasuredProcess | undefined;
  let removePrograms = async () => {};
  try {
    for (const line of [...processorFacts(), ...(await serverFacts(database))]) print(line);
    const programs = await compilePrograms(['services/management-api/src/main.ts']);
    removePrograms = programs.remove;
    api = await startMeasured(programs.files[0] ?? '', {
      DATABASE_URL: database.url,
      REDIS_URL: testServers().redisUrl,
      API_PORT: '0',
      LOG_LEVEL: 'error',
      TRUST_PROXY: 'true',
      API_REQUESTS_PER_MINUTE: '1000000000',
      API_REQUESTS_PER_HOUR: '1000000000',
    });
    await waitUntilReady(api.port);
    const measured = await measure(clientOf(api.port), database, { seconds, print });
    const { maxRssBytes } = await api.usage();
    print('');
    print(signInReport({ ...measured, maxRssBytes }));
  } finally {
    await api?.stop();
    await database.drop();
    await removePrograms();
  }
}

/** Each with lists beside it. */
async function measure(
  client: Client,
  database: BenchDatabase,
  { seconds, print }: { seconds: number; print: (line: string) => void },
) {
  await addAccount(database, 'ada@bench.example');
  await addAccount(database, 'attacked@bench.example');
  const owner = await client.signIn({ email: 'attacked@bench.example', password });
  const device = /millrace_device=[\w-]+/.exec(owner.cookies)?.[0] ?? '';

  const session = await sessionCost(client, database);
  const lists = () => listsBeside(client, database);
  print(`${seconds} s without sign-ins`);
  const quiet = await lists().during(() => pause(seconds * 1000));
  print(`${seconds} s with one sign-in per second`);
  const steady: Timed[] = [];
  const besideSteady = await lists().during(() =>
    paced(seconds, 1, async () => void steady.push(await client.signIn({ email: 'ada@bench.example', password }))),
  );
  print('five at the same time');
  const burstFrom = performance.now();
  const burst = await Promise.all(
    Array.from({ length: 5 }, () => client.signIn({ email: 'ada@bench.example', password })),
  );
  const burstSeconds = (performance.now() - burstFrom) / 1000;
  print(`${atOnce} at the same time, for existing and unknown accounts`);
  const full = await Promise.all(
    Array.from({ length: atOnce }, (_, at) =>
      client.signIn({ email: `${at % 2 ? 'ada' : 'nobody'}@bench.example`, password }),
    ),
  );
  await pause(3000);
  print(`${seconds} s with ${wrongPerMinute} failed sign-ins per minute from many addresses`);
  const wrong: Timed[] = [];
  const back: Timed[] = [];
  const besideWrong = await lists().during(async () => {
    const attack = paced(seconds, wrongPerMinute / 60, async (at) => {
      const email = at % 2 ? 'attacked@bench.example' : `nobody-${at}@bench.example`;
      wrong.push(await client.signIn({ email, password: 'wrong' }));
    });
    const comingBack = paced(seconds, 0.2, async () => {
      back.push(await client.signIn({ email: 'attacked@bench.example', password, cookie: device }));
    });
    await Promise.all([attack, comingBack]);
  });
  return { session, quiet, besideSteady, besideWrong, steady, burst, burstSeconds, full, wrong, back };
}

type Measured = Awaited<ReturnType<typeof measure>> & { maxRssBytes: number };

function signInReport({
  session,
  quiet,
  besideSteady,
  besideWrong,
  steady,
  burst,
  burstSeconds,
  full,
  wrong,
  back,
  maxRssBytes,
}: Measured): string {
  const row = (name: string, runs: readonly Timed[]) => [
    name,
    ...[0.5, 0.99, 1].map((share) => msOf(runs, share).toFixed(1)),
    statusesIn(countedBy(runs)),
  ];
  const rows = [
    ['', 'p50 ms', 'p99 ms', 'most ms', 'statuses'],
    row('lists, no sign-ins', quiet),
    row('lists during one sign-in per second', besideSteady),
    row('lists during failed sign-ins', besideWrong),
    row('sign-ins, one per second', steady),
    row('sign-ins, five at the same time', burst),
    row(`sign-ins, ${atOnce} at the same time`, full),
    row('wrong sign-ins', wrong),
    row('owner of the attacked account, known browser', back),
  ];
  const good = (runs: readonly Timed[]) => runs.filter(({ status }) => status === 200).length / runs.length;
  return report(
    [['', textTable(rows)]],
    [
      ['share of successful sign-ins, one per second', good(steady), { atLeast: 1 }],
      ['seconds until five simultaneous sign-ins complete', burstSeconds, { atMost: 3 }],
      ['maximum ms added to a list by one sign-in per second', msOf(besideSteady, 1) - msOf(quiet, 1), { atMost: 50 }],
      ['ms added to the p99 of lists by failed sign-ins', msOf(besideWrong, 0.99) - msOf(quiet, 0.99), { atMost: 20 }],
      ['share of the owner’s sign-ins from a known browser that succeed', good(back), { atLeast: 1 }],
      ['additional p50 ms with a session instead of a key', session.bySession - session.byKey, { atMost: 0.1 }],
      ['max RSS MB', maxRssBytes / 2 ** 20, { atMost: 600 }],
    ],
  );
}

interface Timed {
  ms: number;
  status: number;
}

function msOf(runs: readonly Timed[], share: number): number {
  const all = runs.map(({ ms }) => ms);
  return percentile(all, share);
}

/** Starts work so often a second, whatever it takes, and waits for all of it. */
async function paced(seconds: number, perSecond: number, work: (at: number) => Promise<void>): Promise<void> {
  const begun: Promise<void>[] = [];
  const from = performance.now();
  const count = Math.max(1, Math.round(seconds * perSecond));
  for (let at = 0; at < count; at++) {
    await pause(Math.max(0, from + (at * 1000) / perSecond - performance.now()));
    begun.push(work(at));
  }
  await Promise.all(begun);
}

function countedBy(runs: readonly Timed[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of runs) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

type Client = ReturnType<typeof clientOf>;

function clientOf(port: number) {
  const origin = `http://127.0.0.1:${port}`;
  let address = 0;
  async function timed(path: string, options: RequestInit): Promise<Timed & { cookies: string }> {
    const from = performance.now();
    const response = await fetch(origin + path, options);
    await response.arrayBuffer();
    const cookies = response.headers.getSetCookie().join('; ');
    return { ms: performance.now() - from, status: response.status, cookies };
  }
  return {
    get: (path: string, headers: Record<string, string>) => timed(path, { headers }),
    /** Each from an address of its own. */
    signIn({ email, password: given, cookie }: { email: string; password: string; cookie?: string }) {
      address += 1;
      const from = `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`;
      const headers = {
        'content-type': 'application/json',
        origin,
        'x-forwarded-for': from,
        ...(cookie && { cookie }),
      };
      return timed('/api/login/', { method: 'POST', headers, body: JSON.stringify({ email, password: given }) });
    },
  };
}

/** Lists by a key at a steady rate, while something else is done. */
function listsBeside(client: Client, { personalApiKey }: BenchDatabase) {
  const runs: Timed[] = [];
  return {
    async during(work: () => Promise<unknown>): Promise<Timed[]> {
      let isOver = false;
      const asking = (async () => {
        const begun: Promise<unknown>[] = [];
        while (!isOver) {
          begun.push(
            client
              .get('/api/projects/?limit=10', { authorization: `Bearer ${personalApiKey}` })
              .then((run) => runs.push(run)),
          );
          await pause(1000 / listsPerSecond);
        }
        await Promise.all(begun);
      })();
      await work();
      isOver = true;
      await asking;
      return runs;
    },
  };
}

/** Medians of the same list by a key and by a session, turn about. */
async function sessionCost(client: Client, { personalApiKey }: BenchDatabase) {
  const { cookies } = await client.signIn({ email: 'ada@bench.example', password });
  const cookie = /millrace_session=[\w-]+/.exec(cookies)?.[0] ?? '';
  const ask = async (headers: Record<string, string>) => (await client.get('/api/users/@me/', headers)).ms;
  const [key, session] = [{ authorization: `Bearer ${personalApiKey}` }, { cookie }];
  const [byKey, bySession]: [number[], number[]] = [[], []];
  for (let at = 0; at < sessionRequests; at++) {
    byKey.push(await ask(key));
    bySession.push(await ask(session));
  }
  return { byKey: median(byKey), bySession: median(bySession) };
}

async function addAccount(database: BenchDatabase, email: string): Promise<void> {
  const hash = await createPasswords().hash(password);
  await database.query(
    `WITH added AS (
       INSERT INTO "user" (uuid, distinct_id, email, first_name) VALUES (gen_random_uuid(), $2, $2, 'Ada') RETURNING id),
     secret AS (INSERT INTO user_password (user_id, hash) SELECT id, $3 FROM added)
     INSERT INTO membership (id, organization_id, user_id) SELECT gen_random_uuid(), $1, id FROM added`,
    [database.organizationId, email, hash],
  );
}
