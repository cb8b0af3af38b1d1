import { randomBytes } from 'node:crypto';

/** Values that are sent or configured somewhere and must never be seen in a log. */
export interface PlantedMarks {
  /** A text found nowhere else, to be put into a key, a password, an address… */
  plant(name: string): string;
  /** For values others have made, such as keys. */
  keep(name: string, value: string): void;
  /** `name: the line it is in` for each that is found in the text, once each. */
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

/** As it is, and as bytes are written by those who log a buffer. */
function spellings(value: string): string[] {
  const bytes = Buffer.from(value);
  return [value, bytes.toString('hex'), [...bytes].join(','), bytes.toString('base64').slice(0, -4)];
}
