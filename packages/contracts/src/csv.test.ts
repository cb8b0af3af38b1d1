import { formatCsv } from './csv.ts';

describe('formatCsv', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    ['=1+1', `"'=1+1"`],
    ['=HYPERLINK("https://a.example","x")', `"'=HYPERLINK(""https://a.example"",""x"")"`],
    ['+1+1', `"'+1+1"`],
    ['-1+1', `"'-1+1"`],
    ['@SUM(A1)', `"'@SUM(A1)"`],
    ['\t=1', `"'\t=1"`],
    ['\r=1', `"'\r=1"`],
    ['\n=1', `"'\n=1"`],
    ['  =1', `"'  =1"`],
    ['＝1+1', `"'＝1+1"`],
    ['-12.5', '-12.5'],
    ['+49', '+49'],
    ['a,b', '"a,b"'],
    ['a;=1', '"a;=1"'],
    ['a"b', '"a""b"'],
    ['a\nb', '"a\nb"'],
  ])('writes %j as %s', (text, cell) => {
    expect(formatCsv([[text, -1, true, null]])).toBe(`${cell},-1,true,\r\n`);
  });
});
