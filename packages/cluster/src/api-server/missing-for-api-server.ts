import { hasProgram } from '@millrace/stack/src/process/run-program.ts';

/** What the API server is made of, beside what is fetched for it. */
const programs: [name: string, purpose: string][] = [
  ['go', 'the parts of Kubernetes are built from source'],
  ['apt-get', "etcd comes from Debian's packages"],
  ['dpkg', "etcd comes from Debian's packages"],
  ['openssl', 'the certificates are made by it'],
  ['npm', 'kubectl and Helm come from a package of npm'],
];

/** Why an API server cannot run on this machine, in half a sentence; null when it can. */
export async function missingForApiServer(): Promise<string | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'kubectl, Helm and etcd are had for x86-64 Linux';
  for (const [name, purpose] of programs) {
    if (!(await hasProgram(name))) return `no ${name}: ${purpose}`;
  }
  return null;
}
