/** What was asked for, as `parse` reads it. Ends the process with the usage: by 0 at `--help`, by 2 where `parse` throws. */
export function orUsage<T>(usage: string, parse: () => T): T {
  if (process.argv.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parse();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}
