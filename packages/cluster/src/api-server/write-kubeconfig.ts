import { readFileSync, writeFileSync } from 'node:fs';

export interface KubeconfigFields {
  /** `https://…` */
  server: string;
  /** File of the authority that signed the server's certificate. */
  authority: string;
  token: string;
}

/** Writes what kubectl, Helm and the parts of Kubernetes find the API server by. JSON is YAML too. */
export function writeKubeconfig(file: string, { server, authority, token }: KubeconfigFields): void {
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
