const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
<script type="module" src="/in-page.mjs"></script>
<style>
  body { margin: 0 } ul { display: grid; grid-template-columns: repeat(20, 60px); grid-auto-rows: 66px; margin: 0; padding: 0 }
  li { overflow: hidden; list-style: none; font: 8px sans-serif } p { margin: 0 } button { display: block; height: 20px }
</style></head><body>`;

export const smallPage = `${head}<h1>Shop</h1><button id="begin">Begin</button></body></html>`;

/** Each far enough from the next one that clicking them all is no rage. */
export const buttons = 200;

/** 5,000 elements, of which one in twenty-five is a button, all of them on the screen. */
export const busyPage = `${head}<main><ul>${Array.from({ length: buttons }, (_, at) => product(at)).join('')}</ul></main>
<button id="begin" style="position: fixed; right: 0; bottom: 0">Begin</button></body></html>`;

/** 25 elements. */
function product(at: number): string {
  const facts = Array.from({ length: 9 }, (_, fact) => `<dt>Fact ${fact}</dt><dd>${at * fact}</dd>`).join('');
  return `<li id="product-${at}" class="product shown"><article data-product="${at}" class="card wide">
    <button type="button" class="buy primary" data-shelf="${at % 7}"><span>Buy ${at}</span></button>
    <h2 class="name">Product ${at}</h2><p>Made by hand.</p><dl class="facts">${facts}</dl></article></li>`;
}
