// Parses formulas over series, such as `(A + 2 * B) / C`.

import { createQueryError } from '../query-parts.ts';

/** Computes a formula's result from one number per series. */
export type Formula = (numbers: readonly number[]) => number;

type Operator = '+' | '-' | '*' | '/' | '%' | '**';
const maxTokens = 500;

/**
 * Parses a formula that consists of `A`, `B` … (in upper or lower case), numbers, + - * / % ** and parentheses.
 * Division by zero returns 0.
 * @throws AppError `invalid` that names `path`
 */
export function parseFormula(text: string, seriesCount: number, path: string): Formula {
  const tokens = tokensOf(text, path);
  let at = 0;
  const next = () => tokens[at];

  function sum(): Formula {
    let left = product();
    for (let sign = next(); sign === '+' || sign === '-'; sign = next()) {
      at += 1;
      left = combine(sign, left, product());
    }
    return left;
  }
  function product(): Formula {
    let left = signed();
    for (let sign = next(); sign === '*' || sign === '/' || sign === '%'; sign = next()) {
      at += 1;
      left = combine(sign, left, signed());
    }
    return left;
  }
  function signed(): Formula {
    const sign = next();
    if (sign !== '-' && sign !== '+') return power();
    at += 1;
    const inner = signed();
    return sign === '-' ? (numbers) => -inner(numbers) : inner;
  }
  function power(): Formula {
    const base = atom();
    if (next() !== '**') return base;
    at += 1;
    return combine('**', base, signed());
  }
  function atom(): Formula {
    const token = next();
    at += 1;
    if (token === '(') {
      const inner = sum();
      if (next() !== ')') throw wrong('A closing parenthesis is missing.');
      at += 1;
      return inner;
    }
    if (token !== undefined && /^[\d.]/.test(token)) {
      const number = Number(token);
      return () => number;
    }
    if (token === undefined || !/^[A-Za-z]$/.test(token))
      throw wrong(token === undefined ? 'It is incomplete.' : `Unexpected "${token}".`);
    const index = token.toUpperCase().charCodeAt(0) - 65;
    if (index >= seriesCount) throw wrong(`The query has no series ${token.toUpperCase()}.`);
    return (numbers) => numbers[index] ?? 0;
  }
  function wrong(detail: string) {
    return createQueryError(path, `The formula is not valid. ${detail}`);
  }

  const formula = sum();
  if (at < tokens.length) throw wrong(`Unexpected "${next()}".`);
  return (numbers) => finite(formula(numbers));
}

function tokensOf(text: string, path: string): string[] {
  const tokens: string[] = [];
  const token = /\s*(\*\*|[-+*/%()]|\d+(?:\.\d+)?|\.\d+|[A-Za-z](?![A-Za-z0-9_]))\s*/y;
  while (token.lastIndex < text.length) {
    const start = token.lastIndex;
    const found = token.exec(text)?.[1];
    if (found === undefined || tokens.length === maxTokens) {
      throw createQueryError(path, `The formula is not valid at "${text.slice(start, start + 20)}".`);
    }
    tokens.push(found);
  }
  return tokens;
}

function combine(operator: Operator, left: Formula, right: Formula): Formula {
  switch (operator) {
    case '+':
      return (numbers) => left(numbers) + right(numbers);
    case '-':
      return (numbers) => left(numbers) - right(numbers);
    case '*':
      return (numbers) => left(numbers) * right(numbers);
    case '/':
      return (numbers) => divide(left(numbers), right(numbers), (a, b) => a / b);
    case '%':
      return (numbers) => divide(left(numbers), right(numbers), (a, b) => a % b);
    case '**':
      return (numbers) => finite(left(numbers) ** right(numbers));
    default:
      return operator satisfies never;
  }
}

const divide = (a: number, b: number, how: (a: number, b: number) => number) => (b === 0 ? 0 : how(a, b));
const finite = (number: number) => (Number.isFinite(number) ? number : 0);
