import type { BundledPackage } from './bundled-packages.ts';

/** The texts that licences demand to go with what is compiled into the programs. */
export function thirdPartyLicenses(packages: readonly BundledPackage[]): string {
  const parts = packages.map(({ name, version, license, licenseTexts }) =>
    [`## ${name} ${version} (${license || 'no licence named'})`, ...licenseTexts.map((text) => text.trim())].join(
      '\n\n',
    ),
  );
  return `${['Millrace contains the following packages.', ...parts].join('\n\n')}\n`;
}
