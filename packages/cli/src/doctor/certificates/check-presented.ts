import { type Finding, ok, problem } from '../finding.ts';
import { reasonOf } from '../reason-of.ts';
import { judgePresented } from './judge-presented.ts';
import { readPresented } from './read-presented.ts';
import { NoTlsError, placeOf, type TlsServer } from './tls-server.ts';

/** Looks at what servers show to services that connect, all at once. Of one that is away its own check speaks. */
export async function checkPresented(servers: readonly TlsServer[], timeoutMs: number): Promise<Finding[]> {
  if (servers.length === 0) return [ok('TLS is not asked for')];
  const findings = await Promise.all(servers.map((server) => checkOne(server, timeoutMs)));
  return findings.flat();
}

async function checkOne(server: TlsServer, timeoutMs: number): Promise<Finding[]> {
  try {
    return judgePresented(server, await readPresented(server, timeoutMs));
  } catch (error) {
    const place = placeOf(server);
    if (error instanceof NoTlsError) {
      return [problem(`${place}: ${error.message}, and the settings demand it`, 'let the server speak TLS')];
    }
    return [
      problem(
        `${place} shows no certificate: ${reasonOf(error)}`,
        'is that the port for TLS; does the server want a certificate of ours; else see what is said of the store itself',
      ),
    ];
  }
}
