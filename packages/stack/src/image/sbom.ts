// Lists an image's contents: a bill of materials, and the licenses of its packages.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listUnbundledPackages } from '../build/build.ts';
import type { NpmPackage } from '../fetched-programs.ts';
import type { Base, Platform } from './base.ts';
import type { Labels } from './oci-image.ts';

export interface ImageContents {
  platform: Platform;
  base: Base;
  debianRelease: string;
  /** The packages, each with its hash from the lockfile. */
  packages: readonly (BundledPackage & NpmPackage)[];
}

/**
 * Creates the bill of materials in CycloneDX 1.6. Lists only packages that are in the programs or next to them, because
 * most packages in the lockfile are test tools.
 */
export function createSbom({ platform, base, debianRelease, packages }: ImageContents, labels: Labels): string {
  const { node, debian } = base;
  const components = [
    ...packages.map((one) => ({
      ...npmComponent('library', one),
      ...(one.license ? { licenses: [licenseOf(one.license)] } : {}),
    })),
    { ...npmComponent('platform', node), cpe: `cpe:2.3:a:nodejs:node.js:${node.version}:*:*:*:*:*:*:*` },
    ...debian.map(({ name, version, source, files }) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${platform.architecture}&distro=debian-${debianRelease}`,
      properties: [
        { name: 'debian:source', value: source },
        ...Object.entries(files).map(([path, hash]) => ({ name: `sha256:/${path}`, value: hash })),
      ],
    })),
  ];
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: labels.created,
      component: {
        type: 'container',
        name: 'millrace',
        version: labels.version,
        licenses: [licenseOf('Apache-2.0')],
        properties: [{ name: 'platform', value: `linux/${platform.architecture}` }],
      },
    },
    components: components.map((component) => ({ 'bom-ref': component.purl, ...component })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function npmComponent(type: 'library' | 'platform', { name, version, integrity }: NpmPackage) {
  const [algorithm, hash = ''] = integrity.split('-', 2);
  return {
    type,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: String(algorithm).replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
  };
}

/** Returns an SPDX identifier, or an SPDX expression that combines several identifiers. */
const licenseOf = (license: string) =>
  / (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } };

/** A third-party package that is bundled into the programs or copied next to them. */
interface BundledPackage {
  name: string;
  version: string;
  /** The SPDX license identifier, or an empty string if the package does not declare a license. */
  license: string;
  licenseTexts: string[];
}

/**
 * Lists the third-party packages in the programs.
 * @param bundled the source files of the programs, as paths relative to the root
 */
export async function listBundledPackages(root: string, bundled: readonly string[]): Promise<BundledPackage[]> {
  const folders = new Set([
    ...bundled.flatMap((path) => packageFolder(root, path)),
    ...listUnbundledPackages(root).values(),
  ]);
  const packages = await Promise.all([...folders].map(readPackage));
  const byName = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Finds a package's root directory. Subdirectories can have a `package.json` too, about how to load them. */
function packageFolder(root: string, path: string): string[] {
  const [, within, name] = path.match(/^(.*node_modules\/)((?:@[^/]+\/)?[^/]+)\//) ?? [];
  return within && name ? [join(root, within, name)] : [];
}

async function readPackage(folder: string): Promise<BundledPackage> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string | { type: string };
  };
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort();
  return {
    name,
    version,
    license: typeof license === 'object' ? license.type : (license ?? ''),
    licenseTexts: await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8'))),
  };
}

/** Returns the license texts that must be distributed with the bundled code. */
export function formatThirdPartyLicenses(packages: readonly BundledPackage[]): string {
  const parts = packages.map(({ name, version, license, licenseTexts }) =>
    [`## ${name} ${version} (${license || 'no license stated'})`, ...licenseTexts.map((text) => text.trim())].join(
      '\n\n',
    ),
  );
  return `${['Millrace contains the following packages.', ...parts].join('\n\n')}\n`;
}
