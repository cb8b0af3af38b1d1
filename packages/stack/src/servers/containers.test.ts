import { findDaemonAddress } from './containers.ts';

test.each([
  [undefined, { socketPath: '/var/run/docker.sock' }],
  ['', { socketPath: '/var/run/docker.sock' }],
  ['unix:///run/user/1000/docker.sock', { socketPath: '/run/user/1000/docker.sock' }],
  ['tcp://127.0.0.1:2375', { host: '127.0.0.1', port: 2375 }],
  ['ssh://somebody@somewhere', null],
])('findDaemonAddress returns %p if DOCKER_HOST is %p', (dockerHost, address) => {
  expect(findDaemonAddress(dockerHost)).toEqual(address);
});
