import type { TestTenant } from '@millrace/testing';
import type { ReleaseBuild } from './release-build.ts';

/** The database as an installation of the older release has it. */
export async function prepareAsRelease(
  release: ReleaseBuild,
  address: string,
): Promise<{ tenant: TestTenant; stranger: TestTenant }> {
  const tenant = async (name: string): Promise<TestTenant> => {
    const bootstrap = ['--json', 'bootstrap', '--force', '--email', `${name}@example.com`, '--organization', name];
    const printed = await release.command(bootstrap, { DATABASE_URL: address });
    const made = JSON.parse(printed) as TestTenant & { organization?: unknown };
    return { ...made, environmentId: made.projectId, token: made.projectApiKey };
  };
  return { tenant: await tenant('ada'), stranger: await tenant('bob') };
}
