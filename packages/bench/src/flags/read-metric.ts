/** One figure of a service's `/metrics`, by values its labels have; 0 when it has not been counted yet. */
export async function readMetric(port: number, name: string, labelValues: readonly string[]): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith(`${name}{`));
  const found = lines.find((line) => labelValues.every((value) => line.includes(`="${value}"`)));
  return found === undefined ? 0 : Number(found.slice(found.lastIndexOf(' ') + 1));
}
