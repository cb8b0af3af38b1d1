import { randomBytes } from 'node:crypto';

/** Unique values that the test sends or configures, and that must never appear in a log. */
export interface PlantedMarks {
  /** Returns a unique string for a key, a password, an email address, or similar. */
  plant(name: string): string;
  /** Adds a value that other code created, such as a generated key. */
  keep(name: string, value: string): void;
  /** Returns `name: line` once for each mark that the text contains. */
  foundIn(text: string): string[];
}

const excerptLength = 600;

export function createPlantedMarks(): PlantedMarks {
  const planted: [name: string, value: string][] = [];
  return {
    plant(name) {
      const value = `zq${randomBytes(9).toString('hex')}`;
      planted.push([name, value]);
      return value;
    },
    keep: (name, value) => void planted.push([name, value]),
    foundIn(text) {
      const lines = text.split('\n');
      const found = planted.flatMap(([name, value]): [string, string][] => {
        const line = lines.find((one) => spellings(value).some((spelling) => one.includes(spelling)));
        return line === undefined ? [] : [[name, `${name}: ${line.slice(0, excerptLength)}`]];
      });
      return [...new Map(found).values()];
    },
  };
}

/** Returns the encodings in which a log may contain a value: as a string and as a buffer. */
function spellings(value: string): string[] {
  const bytes = Buffer.from(value);
  return [value, bytes.toString('hex'), [...bytes].join(','), bytes.toString('base64').slice(0, -4)];
}
