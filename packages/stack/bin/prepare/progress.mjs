const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/**
 * Shows the progress of a command step by step. On a terminal, a running step shows a spinner and the elapsed seconds.
 * Otherwise, each step prints one line when it starts and one when it ends. A slow step reports every minute what it is
 * doing and where its log is.
 * @param {{ stream?: NodeJS.WriteStream, isQuiet?: boolean, slowMs?: number }} options isQuiet: show only steps that
 *   are slow or fail
 */
export function createProgress({ stream = process.stderr, isQuiet = false, slowMs = 60_000 } = {}) {
  const isLive = stream.isTTY === true && !process.env.CI;
  const running = new Set();
  let frame = 0;
  let timer;

  function clearLine() {
    if (isLive && running.size > 0) stream.write('\r\x1b[2K');
  }
  function draw() {
    if (!isLive || running.size === 0) return;
    const steps = [...running].map((step) => `${step.title}${step.detail && `: ${step.detail}`}${seconds(step)}`);
    const line = `${frames[frame % frames.length]} ${steps.join(' · ')}`;
    stream.write(`\r\x1b[2K${line.slice(0, (stream.columns || 80) - 1)}`);
  }
  function tick() {
    frame += 1;
    draw();
  }
  function print(line) {
    clearLine();
    stream.write(`${line}\n`);
    draw();
  }

  return {
    print,
    /**
     * Runs `work` as a step. `work` may call `tell(detail)` while it runs.
     *
     * @template T
     * @param {string} title
     * @param {(tell: (detail: string) => void) => Promise<T>} work
     * @param {{ log?: string }} options path of the log to mention if the step is slow
     * @returns {Promise<T>}
     */
    async step(title, work, { log } = {}) {
      const step = { title, detail: '', startedAt: Date.now() };
      if (!isLive && !isQuiet) stream.write(`… ${title}\n`);
      running.add(step);
      if (isLive) timer ??= setInterval(tick, 120).unref();
      draw();
      const slow = setInterval(() => print(slowLine(step, log)), slowMs);
      const finish = (mark) => {
        clearInterval(slow);
        clearLine();
        running.delete(step);
        if (running.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
        if (!isQuiet || mark === '✗') stream.write(`${mark} ${title}${seconds(step)}\n`);
        draw();
      };
      try {
        const result = await work((detail) => {
          step.detail = detail;
        });
        finish('✓');
        return result;
      } catch (error) {
        finish('✗');
        throw error;
      }
    },
  };
}

function slowLine({ title, detail, startedAt }, log) {
  const elapsed = Math.round((Date.now() - startedAt) / 1000);
  return `… ${title} is still running after ${elapsed} s${detail && `: ${detail}`}${log ? `. Log: ${log}` : ''}`;
}

function seconds({ startedAt }) {
  const elapsed = (Date.now() - startedAt) / 1000;
  return elapsed < 0.1 ? '' : ` (${elapsed.toFixed(1)} s)`;
}
