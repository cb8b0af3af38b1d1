import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import {
  findFreePort,
  type Reaper,
  type RunningServer,
  startServerProcess,
  waitUntilReady,
} from '@millrace/stack/servers/server-process';
import { buildKubernetesProgram } from '../parts/go-program.ts';
import { runOrExplain } from '../parts/run-or-explain.ts';
import { startEtcd } from './start-etcd.ts';

export interface ApiServerOptions {
  directory: string;
  reaper: Reaper;
  /** IP address that the server listens on. The default is loopback. */
  host?: string;
  flags?: readonly string[];
}

export interface RunningApiServer extends RunningServer {
  kubeconfig: string;
  certificates: ClusterCertificates;
}

/** IP address range of services. The API server has the first IP address. */
export const serviceRange = '10.96.0.0/16';
const firstServiceAddress = '10.96.0.1';

export async function runApiServer(options: ApiServerOptions): Promise<RunningApiServer> {
  const { directory, reaper, host = '127.0.0.1' } = options;
  const program = await buildKubernetesProgram('kube-apiserver');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const certificates = await createCertificates(directory, [
    ...[`IP:${host}`, 'IP:127.0.0.1', `IP:${firstServiceAddress}`],
    ...['DNS:localhost', 'DNS:kubernetes', 'DNS:kubernetes.default', 'DNS:kubernetes.default.svc'],
  ]);
  const etcd = await startEtcd(directory, reaper);
  const token = randomBytes(24).toString('base64url');
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const port = await findFreePort();
  const server = startServerProcess({
    name: 'kube-apiserver',
    command: program,
    arguments: [...flagsOf({ host, port, etcd: etcd.address, tokens }, certificates), ...(options.flags ?? [])],
    marker: tokens,
    logFile: join(directory, 'kube-apiserver.log'),
    recordFile: join(directory, 'kube-apiserver.json'),
    reaper,
    stopSignal: 'SIGTERM',
    stopPatienceMs: 5000,
  });
  const address = `https://${host}:${port}`;
  const kubeconfig = join(directory, 'admin.kubeconfig');
  writeKubeconfig(kubeconfig, { server: address, authority: certificates.authority, token });
  const stop = async () => {
    await server.stop();
    await etcd.stop();
  };
  try {
    await waitUntilReady({ name: 'kube-apiserver', process: server }, () => isReady(address, token), 120_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { address, kubeconfig, certificates, ended: server.ended, lastLog: server.lastLog, stop };
}

function flagsOf(
  { host, port, etcd, tokens }: { host: string; port: number; etcd: string; tokens: string },
  { authority, server, frontProxy, serviceAccountKey }: ClusterCertificates,
): string[] {
  const flags = {
    'bind-address': host,
    'advertise-address': host === '127.0.0.1' ? '' : host,
    'secure-port': port,
    'etcd-servers': etcd,
    'tls-cert-file': server.cert,
    'tls-private-key-file': server.key,
    'token-auth-file': tokens,
    'authorization-mode': 'Node,RBAC',
    'service-cluster-ip-range': serviceRange,
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': serviceAccountKey,
    'service-account-signing-key-file': serviceAccountKey,
    'client-ca-file': authority,
    'requestheader-client-ca-file': authority,
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-username-headers': 'X-Remote-User',
    'proxy-client-cert-file': frontProxy.cert,
    'proxy-client-key-file': frontProxy.key,
    'allow-privileged': true,
    'kubelet-preferred-address-types': 'InternalIP',
    'endpoint-reconciler-type': host === '127.0.0.1' ? 'none' : 'lease',
  };
  return Object.entries(flags).flatMap(([name, value]) => (value === '' ? [] : [`--${name}=${value}`]));
}

/** Sends a request with the token. Does not verify the certificate, because kubectl and Helm will verify it. */
function isReady(address: string, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      `${address}/readyz`,
      { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false, timeout: 5000 },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}

interface ClusterCertificates {
  authority: string;
  server: { cert: string; key: string };
  /** Certificate that the API server presents to other API servers, such as the metrics API. */
  frontProxy: { cert: string; key: string };
  serviceAccountKey: string;
}

/**
 * Creates a control plane's keys and certificates.
 * @param hosts the server's host names and IP addresses, as `DNS:…` and `IP:…`
 * @throws SetupProblem if openssl is not installed
 */
async function createCertificates(directory: string, hosts: readonly string[]): Promise<ClusterCertificates> {
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

interface KubeconfigFields {
  server: string;
  authority: string;
  token: string;
}

/**
 * Writes a kubeconfig file that kubectl, Helm and Kubernetes programs use to connect to the API server. The file
 * contains JSON, which is valid YAML.
 */
function writeKubeconfig(file: string, { server, authority, token }: KubeconfigFields): void {
  const name = 'millrace';
  const certificate = readFileSync(authority).toString('base64');
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': name },
    clusters: [{ name, cluster: { server, 'certificate-authority-data': certificate } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
}
