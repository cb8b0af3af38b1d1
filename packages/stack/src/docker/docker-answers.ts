import { request } from 'node:http';

/** True when a Docker daemon answers within a second and a half; having the command means nothing. */
export function dockerAnswers(): Promise<boolean> {
  return new Promise((resolve) => {
    const target = daemonAddress(process.env.DOCKER_HOST);
    if (!target) {
      resolve(false);
      return;
    }
    const asked = request({ ...target, path: '/_ping', timeout: 1500 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(false));
    asked.end();
  });
}

/** Exported for its test. @returns null for an address only the Docker client itself understands (ssh, named pipes). */
export function daemonAddress(
  dockerHost: string | undefined,
): { socketPath: string } | { host: string; port: number } | null {
  if (!dockerHost) return { socketPath: '/var/run/docker.sock' };
  if (dockerHost.startsWith('unix://')) return { socketPath: dockerHost.slice('unix://'.length) };
  const url = /^(tcp|http):\/\/([^/:]+):(\d+)/.exec(dockerHost);
  return url ? { host: String(url[2]), port: Number(url[3]) } : null;
}
