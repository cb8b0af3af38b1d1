import { attributeOf, parentOf, tagOf } from '../page/dom.ts';

/** A selector for people to find an element by, as short as an id allows: `#cart>button.buy`. */
export function nameElement(node: Node | null | undefined): string {
  let name = '';
  for (let at = node as Element | null; at; at = parentOf(at)) {
    const id = attributeOf(at, 'id');
    const own = id
      ? `#${id}`
      : [tagOf(at), ...(attributeOf(at, 'class') ?? '').trim().split(/\s+/)].filter(Boolean).join('.');
    name = name ? `${own}>${name}` : own;
    if (id || name.length > 99) break;
  }
  return name.slice(0, 99);
}
