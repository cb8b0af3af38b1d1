import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runOrExplain } from '../parts/run-or-explain.ts';

/** The files a control plane proves itself with, made anew for each cluster. */
export interface ClusterCertificates {
  /** Of the authority that signed the other two. */
  authority: string;
  server: { cert: string; key: string };
  /** What the API server shows to servers behind it (metrics). */
  frontProxy: { cert: string; key: string };
  /** Signs the tokens of service accounts. */
  serviceAccountKey: string;
}

/**
 * @param hosts what the server is reached by, as `IP:…` and `DNS:…`
 * @throws SetupProblem when there is no openssl.
 */
export async function createCertificates(directory: string, hosts: readonly string[]): Promise<ClusterCertificates> {
  const place = (name: string) => ({ cert: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) });
  const [authority, server, frontProxy] = [place('authority'), place('server'), place('front-proxy')];
  const shared = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  const files = ({ cert, key }: typeof server) => ['-keyout', key, '-out', cert];
  const signed = ['-CA', authority.cert, '-CAkey', authority.key, '-addext', 'basicConstraints=critical,CA:FALSE'];
  await runOrExplain('openssl', [...shared, ...files(authority), '-subj', '/CN=millrace-cluster']);
  await runOrExplain('openssl', [
    ...[...shared, ...files(server), ...signed, '-subj', '/CN=kube-apiserver'],
    ...['-addext', `subjectAltName=${hosts.join(',')}`],
  ]);
  await runOrExplain('openssl', [...shared, ...files(frontProxy), ...signed, '-subj', '/CN=front-proxy-client']);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const serviceAccountKey = join(directory, 'service-account.key');
  writeFileSync(serviceAccountKey, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  return { authority: authority.cert, server, frontProxy, serviceAccountKey };
}
