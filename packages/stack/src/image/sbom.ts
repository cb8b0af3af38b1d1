import type { Base, NpmPackage } from './base-lock.ts';
import type { BundledPackage } from './bundled-packages.ts';
import type { Labels } from './oci-image.ts';
import type { Platform } from './platform.ts';

export interface ImageContents {
  platform: Platform;
  base: Base;
  debianRelease: string;
  /** With their hashes in the lockfile. */
  packages: readonly (BundledPackage & NpmPackage)[];
}

/**
 * What the image consists of, as CycloneDX 1.6: not what the lockfile holds, most of which is for tests, but what is in the
 * programs and beside them, with the lockfile's hashes.
 */
export function sbom({ platform, base, debianRelease, packages }: ImageContents, labels: Labels): string {
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

/** One name of SPDX, or an expression of several. */
const licenseOf = (license: string) =>
  / (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } };
