// Reduces a screenshot's colors to a palette. Screenshots have large areas with few colors, so this reduces their size
// to a third.
import { crc32 as crcOf, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const maxColours = 256;
/**
 * Number of colors that are kept unchanged. These are the most frequent colors, such as those of backgrounds, lines and
 * text.
 */
const maxExact = 32;
const nearEnough = 150;

/**
 * Reduces the size of a screenshot.
 * @param png a browser screenshot with eight bits per channel, not interlaced
 * @returns the same image with at most 256 colors
 */
export function shrinkPng(png: Buffer): Buffer {
  const { width, height, channels, pixels } = decode(png);
  const colours = new Map<number, number>();
  const colourAt = (at: number) =>
    ((pixels[at * channels] ?? 0) << 16) | ((pixels[at * channels + 1] ?? 0) << 8) | (pixels[at * channels + 2] ?? 0);
  for (let at = 0; at < width * height; at += 1) colours.set(colourAt(at), (colours.get(colourAt(at)) ?? 0) + 1);
  // The most frequent colors. A color that is very similar to a more frequent color is left out: otherwise, shades of
  // gray would fill the palette and leave no room for green text.
  const kept: number[] = [];
  const indexOf = new Map<number, number>();
  for (const [colour] of [...colours].sort(([, a], [, b]) => b - a)) {
    const { at, distance } = nearest(colour, kept);
    const isNew = kept.length < maxColours && (distance > nearEnough || (distance > 0 && kept.length < maxExact));
    indexOf.set(colour, isNew ? kept.push(colour) - 1 : at);
  }
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < width * height; at += 1) {
    rows[at + Math.floor(at / width) + 1] = indexOf.get(colourAt(at)) ?? 0;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(kept.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const chunks = [chunk('IHDR', header), chunk('PLTE', table), chunk('IDAT', deflateSync(rows, { level: 9 }))];
  return Buffer.concat([signature, ...chunks, chunk('IEND', Buffer.alloc(0))]);
}

/** Returns the nearest color. `distance` is the square of the distance between the two colors. */
function nearest(colour: number, among: readonly number[]): { at: number; distance: number } {
  let best = { at: 0, distance: Number.POSITIVE_INFINITY };
  for (const [at, other] of among.entries()) {
    const red = (colour >> 16) - (other >> 16);
    const green = ((colour >> 8) & 255) - ((other >> 8) & 255);
    const blue = (colour & 255) - (other & 255);
    const distance = red * red + green * green + blue * blue;
    if (distance < best.distance) best = { at, distance };
  }
  return best;
}

function decode(png: Buffer): { width: number; height: number; channels: number; pixels: Buffer } {
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const isData = png.toString('latin1', at + 4, at + 8) === 'IDAT';
    if (isData) data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const channels = png[25] === 6 ? 4 : 3;
  const rows = inflateSync(Buffer.concat(data));
  const length = width * channels;
  const pixels = Buffer.alloc(length * height);
  for (let row = 0; row < height; row += 1) {
    const filter = rows[row * (length + 1)] ?? 0;
    for (let at = 0; at < length; at += 1) {
      const here = row * length + at;
      const left = at >= channels ? (pixels[here - channels] ?? 0) : 0;
      const above = row > 0 ? (pixels[here - length] ?? 0) : 0;
      const corner = row > 0 && at >= channels ? (pixels[here - length - channels] ?? 0) : 0;
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      pixels[here] = (rows[row * (length + 1) + 1 + at] ?? 0) + guess;
    }
  }
  return { width, height, channels, pixels };
}

/** The Paeth predictor: the one of three neighbors that is nearest to `left + above - corner`. */
function paeth(left: number, above: number, corner: number): number {
  const [a, b, c] = [left, above, corner].map((one) => Math.abs(left + above - corner - one)) as [
    number,
    number,
    number,
  ];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crcOf(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}
