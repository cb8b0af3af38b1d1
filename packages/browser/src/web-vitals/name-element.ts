/** A selector for people to find an element by, as short as an id allows: `#cart>button.buy`. */
export function nameElement(node: Node | null | undefined): string {
  let name = '';
  for (let at = node; at instanceof Element && name.length < 100; at = at.parentNode) {
    const { id } = at;
    const own = typeof id === 'string' && id ? `#${id}` : [at.localName, ...[...at.classList].sort()].join('.');
    name = name ? `${own}>${name}` : own;
    if (own[0] === '#') break;
  }
  return name.slice(0, 100);
}
