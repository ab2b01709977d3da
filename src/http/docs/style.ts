export const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: #0b63c5; }
@media (prefers-color-scheme: dark) { :root { --link: #7db7ff; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 58rem; margin: 0 auto; padding: 1.5rem 1rem 6rem; }
h1 { line-height: 1.2; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { margin: 0; font-size: 1rem; font-weight: 600; }
h4 { margin: 1rem 0 .3rem; font-size: .85rem; opacity: .75; }
a { color: var(--link); }
code, pre { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
p code, li code, td code { background: var(--soft); padding: .1em .3em; border-radius: .25rem; }
pre { background: var(--soft); padding: .8rem 1rem; border-radius: .4rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); padding: .35rem .6rem .35rem 0; vertical-align: top; }
nav ul { list-style: none; padding: 0; columns: 22rem; }
nav li { break-inside: avoid; }
article { margin: 1.2rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; overflow-wrap: anywhere; }
article:target { border-color: var(--link); }
.method { display: inline-block; min-width: 3.6em; font-weight: 700; }
.note { opacity: .75; }
`;
