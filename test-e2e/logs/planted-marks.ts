import { randomBytes } from 'node:crypto';

/** Marked values that the test sends or configures, and that must never appear in a log. */
export interface PlantedMarks {
  /** Returns a unique text for a key, a password, an email address and so on. */
  plant(name: string): string;
  /** Adds a value from other code, such as a generated key. */
  keep(name: string, value: string): void;
  /** Returns `name: line` for each mark in the text, once per mark. */
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

/** Returns the forms in which a log may contain a value: as text and as a buffer. */
function spellings(value: string): string[] {
  const bytes = Buffer.from(value);
  return [value, bytes.toString('hex'), [...bytes].join(','), bytes.toString('base64').slice(0, -4)];
}
