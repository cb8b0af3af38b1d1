// Runs ClickHouse (npm chdb) with its HTTP interface. The program is a child process, because an engine crash must not
// end the test process.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const [modules, path, port] = process.argv.slice(2);
const { Session } = await import(`${modules}/chdb/index.mjs`);

/** Each session runs one query at a time, but several sessions on the same path can run in parallel. */
const idle = Array.from({ length: 4 }, () => new Session(path));
const waiting = [];
const take = () => (idle.length > 0 ? Promise.resolve(idle.pop()) : new Promise((resolve) => waiting.push(resolve)));
const give = (session) => {
  const next = waiting.shift();
  if (next) next(session);
  else idle.push(session);
};

/** A session for stopping queries while the other sessions are busy. */
const killer = new Session(path);

const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const escapes = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', 0: '\0' };
/** Parameters are escaped like fields in tab-separated files. */
const unescaped = (text) => text.replace(/\\(.)/gs, (_, letter) => escapes[letter] ?? letter);

/** Replaces a placeholder, such as `{p1:Array(String)}`, with a literal of its type. */
function bound(query, parameters) {
  return query.replace(/\{(\w+):([^{}]+)\}/g, (whole, name, type) => {
    const value = parameters.get(`param_${name}`);
    if (value === null) return whole;
    if (type === 'String') return quoted(unescaped(value));
    if (/^U?Int\d+$/.test(type)) return `to${type}(${BigInt(value)})`;
    return `CAST(${quoted(type.startsWith('Array') ? value : unescaped(value))} AS ${type})`;
  });
}

const ours = /^(param_.*|query|query_id|database|session_id|session_timeout|default_format|user|password|role)$/;

/** IDs of running queries. Like a real server, this server rejects a new query with the ID of a running query. */
const running = new Set();

async function respond(request, response) {
  const id = new URL(request.url, 'http://localhost').searchParams.get('query_id') ?? randomUUID();
  if (running.has(id)) {
    response.writeHead(500, { 'x-clickhouse-exception-code': '216' });
    return response.end(
      `Code: 216. DB::Exception: Query with id = ${id} is already running. (QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING)`,
    );
  }
  running.add(id);
  await runQuery(request, response).finally(() => running.delete(id));
}

async function runQuery(request, response) {
  const { searchParams, pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/ping') return response.end('Ok.\n');
  let body = '';
  request.setEncoding('utf8');
  for await (const chunk of request) body += chunk;
  const text = `${searchParams.get('query') ?? ''}${body}`.trim();
  const [, query = text, format = 'TabSeparated'] = /^([\s\S]*?)\s+FORMAT\s+(\w+)\s*;?$/i.exec(text) ?? [];
  const settings = [...searchParams]
    .filter(([name]) => !ours.test(name))
    .map(([name, value]) => `${name} = ${quoted(value)}`);
  const isSelect = /^\s*(\(|SELECT|WITH)/i.test(query);
  // Do not wait for the disk. Tests do not simulate power failures, and waiting would take most of the time of small
  // inserts.
  const statement = query.replaceAll('fsync_after_insert = 1', 'fsync_after_insert = 0');
  const whole =
    bound(statement, searchParams) + (isSelect && settings.length > 0 ? ` SETTINGS ${settings.join(', ')}` : '');
  const session = await take();
  // A real server stops a query when its client closes the connection. This server finds the query by a comment in its
  // SQL.
  const mark = `/* ${randomUUID()} */ `;
  response.once('close', () => {
    if (response.writableEnded || searchParams.get('cancel_http_readonly_queries_on_client_close') !== '1') return;
    killer.queryAsync(`KILL QUERY WHERE startsWith(query, ${quoted(mark)}) ASYNC`).catch(() => {});
  });
  try {
    const result = await session.queryAsync(mark + whole, { format });
    response.setHeader('x-clickhouse-query-id', searchParams.get('query_id') ?? '');
    response.end(result.bytes());
  } catch (error) {
    const [, code = '0'] = /Code: (\d+)/.exec(String(error?.message)) ?? [];
    response.writeHead(500, { 'x-clickhouse-exception-code': code });
    response.end(`Code: ${code}. ${String(error?.message)}`);
    // After a failed query, the next query would receive the remaining rows of the failed query. Run a query to discard
    // them.
    await session.queryAsync('SELECT 1').catch(() => {});
  } finally {
    give(session);
  }
}

// Parameters are in the URL, so allow URLs as long as on a real server.
const server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
  respond(request, response).catch((error) => response.writeHead(500).end(String(error)));
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
