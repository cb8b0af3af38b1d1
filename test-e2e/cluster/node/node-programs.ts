import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';
import { debianFiles } from '../parts/debian-files.ts';

/** Programs of a node in addition to the kubelet, unpacked from Debian packages. */
export interface NodePrograms {
  containerd: string;
  /** The containerd client. */
  ctr: string;
  runc: string;
  /** Directory of the CNI plugins. */
  cniPlugins: string;
  /** Environment with containerd's shim, iptables and conntrack on the PATH, and their libraries. */
  env: Record<string, string | undefined>;
}

const packages = [
  ...['containerd', 'runc', 'containernetworking-plugins'],
  ...['iptables', 'libxtables12', 'libnftnl11', 'libmnl0', 'libip4tc2', 'libip6tc2'],
  ...['conntrack', 'libnetfilter-conntrack3', 'libnfnetlink0', 'libseccomp2', 'ipset', 'libipset13'],
];

/** Directory of the unpacked Debian packages. */
export function nodeFiles(): Promise<string> {
  return debianFiles('node', packages);
}

/** Returns the programs of a node. @param directory directory for links that installing the packages would create */
export async function nodePrograms(directory: string): Promise<NodePrograms> {
  const root = await nodeFiles();
  const iptables = join(directory, 'iptables');
  linkIptables(join(root, 'usr/sbin/xtables-nft-multi'), iptables);
  const { PATH = '', ...env } = readEnvironment();
  const libraries = ['usr/lib', 'lib'].map((place) => join(root, place, 'x86_64-linux-gnu'));
  return {
    containerd: join(root, 'usr/bin/containerd'),
    ctr: join(root, 'usr/bin/ctr'),
    runc: join(root, 'usr/sbin/runc'),
    cniPlugins: join(root, 'usr/lib/cni'),
    env: {
      ...env,
      PATH: [iptables, join(root, 'usr/bin'), join(root, 'usr/sbin'), '/usr/sbin:/sbin', PATH].join(':'),
      LD_LIBRARY_PATH: libraries.join(':'),
      XTABLES_LIBDIR: join(root, 'usr/lib/x86_64-linux-gnu/xtables'),
    },
  };
}

/**
 * One binary acts as any of these programs, depending on the name under which it is called. Installing the package
 * would create the names.
 */
function linkIptables(program: string, directory: string): void {
  if (existsSync(directory)) return;
  mkdirSync(directory);
  for (const family of ['iptables', 'ip6tables']) {
    for (const name of [family, `${family}-save`, `${family}-restore`]) symlinkSync(program, join(directory, name));
  }
}
