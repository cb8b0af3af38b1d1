import { memberNames } from '../src/start/member-names.ts';

export interface SnippetScript {
  /** Address of the library: `https://events.example.com/array/phc_…/array.js`, or with a version. */
  src: string;
  /** Only of an address with a version, behind which is always the same. */
  integrity?: string | undefined;
}

/**
 * What goes into the head of a page: loads the library beside the page, and keeps the calls that are made before it is there.
 * Without the option `api_host` the library sends to where it came from. Elements above it may be called `posthog`, or like
 * something that documents have.
 */
export function pageSnippet(projectApiKey: string, { src, integrity }: SnippetScript): string {
  const pinned = integrity === undefined ? '' : `\n    script.integrity = ${literal(integrity)};`;
  return `<script>
  (function (page, doc, queue, names) {
    var of = Document.prototype;
    if (queue.__SV) return;
    queue.__SV = 1;
    queue._i = [];
    queue.people = [];
    queue.init = function (token, options, name) { queue._i.push([token, options, name]); };
    names.split(' ').forEach(function (name) {
      queue[name] = function () { queue.push([name].concat([].slice.call(arguments))); };
    });
    page.posthog = queue;
    var script = of.createElement.call(doc, 'script');
    script.async = true;
    script.crossOrigin = 'anonymous';${pinned}
    script.src = ${literal(src)};
    of.querySelector.call(doc, 'head').appendChild(script);
  })(window, document, ({}).hasOwnProperty.call(window, 'posthog') && window.posthog || [], '${memberNames.join(' ')}');
  posthog.init(${literal(projectApiKey)});
</script>`;
}

/** As part of a script in a page. */
function literal(text: string): string {
  return `'${text.replace(/[\\'<\n\r\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`;
}
