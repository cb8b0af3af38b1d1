import { printTable } from '../support/print-table.ts';
import { type Call, calls, type Sdk } from './sdk.ts';

/** Collects the results of all SDK calls, and prints them as a table at the end of the run. */
export function createMatrix(sdks: readonly Sdk[]) {
  const storedAs = new Map<string, string>();
  const cell = (sdk: Sdk, call: Call): string => {
    if (!sdk.calls.includes(call)) return '-';
    return storedAs.get(`${sdk.name}/${call}`) ?? (sdk.unavailable === null ? 'not seen' : 'skipped');
  };
  return {
    note(sdk: Sdk, call: Call, text: string): void {
      storedAs.set(`${sdk.name}/${call}`, text);
    },
    print(): void {
      const skipped = sdks.flatMap(({ name, unavailable }) =>
        unavailable === null ? [] : `! ${name} is skipped: ${unavailable}`,
      );
      printTable('Stored as, by SDK and call', {
        rows: [['SDK', ...calls], ...sdks.map((sdk) => [sdk.name, ...calls.map((call) => cell(sdk, call))])],
        notes: skipped,
      });
    },
  };
}
