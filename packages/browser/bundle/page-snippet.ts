import { memberNames } from '../src/start/member-names.ts';

export interface SnippetScript {
  /** URL of the library: `https://events.example.com/array/phc_…/array.js`, or a URL with a version. */
  src: string;
  /** Hash of the library file. Use it only with a versioned URL, because the content of other URLs changes. */
  integrity?: string | undefined;
}

/**
 * Returns the HTML for a page's head. The snippet loads the library asynchronously, and records calls until the library
 * has loaded. Without the option `api_host`, the library sends events to the host that served the script. The snippet
 * works even if page elements have the ID `posthog` or names that shadow properties of `document`.
 */
export function buildPageSnippet(projectApiKey: string, { src, integrity }: SnippetScript): string {
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

/** Quotes a string for a script inside HTML. */
function literal(text: string): string {
  return `'${text.replace(/[\\'<\n\r\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`;
}
