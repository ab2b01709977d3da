import { escapeHtml, inline } from './html.ts';

/** As much Markdown as our own error pages use: headings, paragraphs, lists, fenced code, `code`. */
export function markdownToHtml(text: string): string {
  const blocks = text.replaceAll('\r\n', '\n').split(/(^```[^\n]*\n[\s\S]*?^```$)/m);
  return blocks.map((block) => (block.startsWith('```') ? fenced(block) : prose(block))).join('\n');
}

const fenced = (block: string): string =>
  `<pre>${escapeHtml(block.replace(/^```[^\n]*\n/, '').replace(/```$/, ''))}</pre>`;

const prose = (text: string): string =>
  text
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(paragraph)
    .join('\n');

function paragraph(part: string): string {
  const heading = /^(#{1,3}) (.+)$/.exec(part);
  if (heading?.[1] !== undefined) return `<h${heading[1].length}>${inline(heading[2] ?? '')}</h${heading[1].length}>`;
  if (!part.startsWith('- ')) return `<p>${inline(part)}</p>`;
  const items = part.split(/^- /m).filter((item) => item !== '');
  return `<ul>${items.map((item) => `<li>${inline(item.trim())}</li>`).join('')}</ul>`;
}
