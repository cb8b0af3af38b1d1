// Runs in the measured page before the library, so that its listeners are the first: `window.bench`, timed by the page's own clock.
const types = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'];
const clickMs = [];
const longTasks = [];
let startedAt = 0;
let spentMs = 0;

new PerformanceObserver((list) => longTasks.push(...list.getEntries())).observe({ type: 'longtask' });
for (const type of types) addEventListener(type, start, { capture: true });

function start() {
  startedAt = performance.now();
}

function end({ type }) {
  spentMs += performance.now() - startedAt;
  if (type !== 'click') return;
  clickMs.push(spentMs);
  spentMs = 0;
}

window.bench = {
  /** In a task of its own. @returns milliseconds of evaluating the script and of `init` */
  load: (path, options) =>
    fetch(path)
      .then((response) => response.text())
      .then(
        (code) =>
          new Promise((resolve) => {
            setTimeout(() => {
              const script = document.createElement('script');
              script.textContent = code;
              const beganAt = performance.now();
              document.head.append(script);
              window.posthog?.init('phc_bench', options);
              resolve(performance.now() - beganAt);
            });
          }),
      ),

  /** As sites do, which the browser may prepare beside the page. */
  loadBeside: (path, options) =>
    new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.onload = () => {
        window.posthog?.init('phc_bench', options);
        resolve();
      };
      script.onerror = reject;
      script.src = path;
      document.head.append(script);
    }),

  /** Called when the library listens: these listeners have to be the last. */
  watchClicks() {
    for (const type of types) addEventListener(type, end);
  },

  /** When the observer has been told of everything. */
  async measured() {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { clickMs, longTasks: longTasks.length };
  },
};
