const svg = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
const html = 'xmlns="http://www.w3.org/1999/xhtml"';

const document = (content: string, attributes = ''): string =>
  `<svg ${svg} width="90" height="90" viewBox="0 0 90 90" ${attributes}>${content}</svg>`;

/**
 * SVGs that run a script or send a request unless they are blocked. The test replaces `RUN` with a
 * script and `URL` with a URL prefix.
 */
export const svgAttacks: Readonly<Record<string, string>> = {
  script: document('<script>RUN</script>'),
  'script by reference': document('<script href="URL/a.js"/><script xlink:href="URL/b.js"/>'),
  'script with a prefix': `<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script>RUN</s:script></s:svg>`,
  'script in CDATA': document('<script type="text/ecmascript"><![CDATA[RUN]]></script>'),
  'script of XHTML': document(`<h:script ${html.replace('xmlns', 'xmlns:h')}>RUN</h:script>`),
  'script as a module': document('<script type="module">RUN</script>'),
  'script in a style sheet': document('<style>/*</style><script>RUN</script><style>*/</style>'),
  'script behind an escaped tag': document(
    '<desc>&lt;/desc&gt;&lt;script&gt;RUN&lt;/script&gt;</desc>',
  ),
  'script in a title': document('<title><script>RUN</script></title>'),
  'script by an entity': `<!DOCTYPE svg [<!ENTITY a "RUN">]>${document('<script>&a;</script>')}`,
  'event of the root': document('', 'onload="RUN"'),
  'events of elements': document(
    '<g onload="RUN"><image href="x:" onerror="RUN"/><rect width="90" height="90" onclick="RUN" onmouseover="RUN" onfocusin="RUN" tabindex="1" autofocus="autofocus" onfocus="RUN"/></g>',
  ),
  'events of animations': document(
    '<rect width="9" height="9"><animate attributeName="x" dur="1ms" onbegin="RUN" onend="RUN" onrepeat="RUN"/><set attributeName="y" to="1" onbegin="RUN"/></rect>',
  ),
  'event in upper case': document('', 'ONLOAD="RUN" OnLoad="RUN"'),
  'event set by an animation': document(
    '<rect width="9" height="9"><set attributeName="onmouseover" to="RUN"/><animate attributeName="onload" values="RUN"/></rect>',
  ),
  'link to a script': document(
    '<a href="javascript:RUN"><rect width="90" height="90"/></a><a xlink:href="java&#10;script:RUN"><circle r="90"/></a>',
  ),
  'animated link': document(
    '<a href="#"><rect width="90" height="90"/><set attributeName="href" to="javascript:RUN"/><animate attributeName="xlink:href" values="javascript:RUN"/><animate attributeName="href" from="javascript:RUN" to="#" begin="0s"/></a>',
  ),
  'animated link by its id': document(
    '<a id="l"><rect width="90" height="90"/></a><animate href="#l" attributeName="href" values="javascript:RUN"/>',
  ),
  'foreign document': document(
    `<foreignObject width="90" height="90"><body ${html}><script>RUN</script><img src="URL/a.png" onerror="RUN"/><iframe srcdoc="&lt;script&gt;RUN&lt;/script&gt;" src="javascript:RUN"/></body></foreignObject>`,
  ),
  'elements of XHTML': document(
    `<g ${html.replace('xmlns', 'xmlns:h')}><h:iframe src="URL/a"/><h:img src="URL/b.png" onerror="RUN"/><h:embed src="URL/c"/><h:object data="URL/d"/><h:link rel="stylesheet" href="URL/e.css"/><h:meta http-equiv="refresh" content="0;url=URL/f"/><h:video src="URL/g" autoplay="autoplay"/><h:base href="URL/"/></g>`,
  ),
  'handler element': document(
    '<handler xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load">RUN</handler><listener event="load" handler="#h"/>',
  ),
  'style sheet by reference': `<?xml version="1.0"?><?xml-stylesheet href="URL/a.css"?>${document('<rect width="9" height="9"/>')}`,
  'style sheet of XSLT': `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="URL/a.xsl"?>${document('')}`,
  'imported style sheets': document(
    '<style>@import "URL/a.css";@import url(URL/b.css);@IMPORT\n\'URL/c.css\';@im\\port "URL/d.css";@import/**/"URL/e.css"</style>',
  ),
  'fonts of style sheets': document(
    '<style>@font-face{font-family:f;src:url(URL/a.woff2)}@font-face{font-family:g;src:local(x),url("URL/b.woff2")}text{font-family:f,g}</style><text y="40">words</text>',
  ),
  'resources of style sheets': document(
    '<style>rect{fill:url(URL/a.svg#a);mask:url("URL/b.svg#b");filter:URL(\'URL/c.svg#c\');cursor:url(URL/d.png),auto;background:u\\72l(URL/e.png);clip-path:url(/**/URL/f.svg#f);mask-image:image-set("URL/g.png" 1x);list-style:url( URL/h.png )}svg{background:url(URL/i.png);border-image:url(URL/j.png)}rect::before{content:url(URL/k.png)}:root{--a:url(URL/l.png);background-image:var(--a)}</style><rect width="90" height="90"/>',
  ),
  'resources of style attributes': document(
    '<rect width="90" height="90" style="fill:url(URL/a.svg#a);mask:url(&quot;URL/b.svg#b&quot;);cursor:url(URL/c.png),auto"/>',
    'style="background:url(URL/d.png);background-image:image-set(\'URL/e.png\' 1x)"',
  ),
  'resources of attributes': document(
    '<rect width="90" height="90" fill="url(URL/a.svg#a)" mask="url(URL/b.svg#b)" filter="url(URL/c.svg#c)" clip-path="url(URL/d.svg#d)" cursor="url(URL/e.png)"/><path d="M0 0L9 9L90 90" marker-mid="url(URL/f.svg#f)" stroke="url(\'URL/g.svg#g\')"/>',
  ),
  'resources that begin like comments': document(
    '<rect width="90" height="90" mask="url(/*/../attack/a.svg#a)" filter="url(/*/../attack/*/#b)" fill="url(/*/../attack/c#c)"/>',
  ),
  'animated resources': document(
    '<rect width="90" height="90"><animate attributeName="fill" values="url(URL/a.svg#a);red" dur="9s"/><set attributeName="mask" to="url(URL/b.svg#b)"/><set attributeName="style" to="fill:url(URL/c.svg#c)"/></rect><image width="9" height="9"><set attributeName="href" to="URL/d.png"/></image>',
  ),
  images: document(
    '<image href="URL/a.png" width="9" height="9"/><image xlink:href="URL/b.png" width="9" height="9"/><filter id="f"><feImage href="URL/c.png"/></filter><rect width="9" height="9" filter="url(#f)"/><image href="&#x20;&#x9;URL/d.png" width="9" height="9"/><image src="URL/e.png" width="9" height="9"/>',
  ),
  'used documents': document(
    '<use href="URL/a.svg#a"/><use xlink:href="URL/b.svg#b"/><use href="data:image/svg+xml,&lt;svg xmlns=\'http://www.w3.org/2000/svg\' id=\'a\' onload=\'RUN\'/>#a"/><linearGradient id="g" href="URL/c.svg#c"/><rect width="9" height="9" fill="url(#g)"/><text><textPath href="URL/d.svg#d">a</textPath></text><mpath href="URL/e.svg#e"/><tref xlink:href="URL/f.svg#f"/>',
  ),
  'a font of SVG': document(
    '<font-face><font-face-src><font-face-uri href="URL/a.svg#a"/></font-face-src></font-face><cursor href="URL/b.png"/><color-profile xlink:href="URL/c.icc" name="c"/><discard/>',
  ),
  'another base': document('<image href="a.png" width="9" height="9"/>', 'xml:base="URL/"'),
  'a script base': document(
    '<a href="RUN"><rect width="90" height="90"/></a><a xlink:href="#RUN"><circle r="90"/></a>',
    'xml:base="javascript:"',
  ),
  'script by a data URL': document(
    '<script href="data:text/javascript,RUN"/><script xlink:href="data:,RUN"/>',
  ),
  'script of an entity with markup': `<!DOCTYPE svg [<!ENTITY a "<script xmlns='http://www.w3.org/2000/svg'>RUN</script>">]>${document('&a;')}`,
  'event of an entity': `<!DOCTYPE svg [<!ENTITY a "RUN">]>${document('<set attributeName="x" onbegin="&a;"/>', 'onload="&a;"')}`,
  'script in metadata': document(
    `<metadata><h:body ${html.replace('xmlns', 'xmlns:h')}><h:script>RUN</h:script><h:img src="URL/a.png" onerror="RUN"/></h:body></metadata>`,
  ),
  'script behind a switch': document(
    `<switch><foreignObject requiredExtensions="http://www.w3.org/1999/xhtml" width="9" height="9"><script ${html}>RUN</script></foreignObject><g><script>RUN</script></g></switch>`,
  ),
  'script in a nested drawing': document(
    '<defs><symbol id="s"><svg onload="RUN"><script>RUN</script></svg></symbol></defs><use href="#s" onload="RUN"/>',
  ),
  'drawings in data URLs': document(
    `<image href="data:image/svg+xml,&lt;svg xmlns='http://www.w3.org/2000/svg' onload='RUN'&gt;&lt;image href='URL/a.png'/&gt;&lt;/svg&gt;" width="9" height="9"/><filter id="f"><feImage href="data:image/svg+xml,&lt;svg xmlns='http://www.w3.org/2000/svg' onload='RUN'/&gt;"/></filter><rect width="9" height="9" filter="url(#f)"/>`,
  ),
  'the document as its own image': document(
    '<image href="#a" width="9" height="9"/><image xlink:href="" width="9" height="9"/><image href="?URL/a" width="9" height="9"/>',
  ),
  'links to documents': document(
    '<a href="data:text/html,&lt;script&gt;RUN&lt;/script&gt;" target="_self"><rect width="90" height="90"/></a><a href="URL/a" target="_top"><circle r="90"/></a><a href="URL/b" ping="URL/c"><circle r="80"/></a>',
  ),
  'links of MathML': document(
    '<math xmlns="http://www.w3.org/1998/Math/MathML" href="javascript:RUN"><mtext href="javascript:RUN">a</mtext><maction actiontype="toggle" xlink:href="javascript:RUN"><mtext>a</mtext></maction></math>',
  ),
  'a style sheet of XSLT in the document': `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#x"?><svg ${svg}><xsl:stylesheet id="x" version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html ${html}><script>RUN</script></html></xsl:template></xsl:stylesheet></svg>`,
  'imported style sheets in pieces': document(
    '<style>@im<![CDATA[port "URL/a.css";]]></style><style>@<!-- -->import "URL/b.css";</style><style>@im&#112;ort url(URL/c.css);</style>',
  ),
  'resources of data URLs': document(
    `<style>rect{fill:url("data:image/svg+xml,&lt;svg xmlns='http://www.w3.org/2000/svg'&gt;&lt;image href='URL/a.png'/&gt;&lt;/svg&gt;#a");cursor:url("data:image/svg+xml,&lt;svg onload='RUN'/&gt;"),auto}</style><rect width="90" height="90"/>`,
  ),
  'resources of variables and keyframes': document(
    '<style>@property --a{syntax:"&lt;url&gt;";inherits:true;initial-value:url(URL/a.png)}:root{--b:url(URL/b.png);--c:url(URL/c.svg#c)}svg{background:var(--b)}rect{fill:var(--c);animation:k 1s infinite}@keyframes k{to{mask:url(URL/d.svg#d)}}text{content:url(URL/e.png)}</style><rect width="90" height="90"/>',
  ),
  'events in other namespaces': document(
    '<g xmlns:e="http://www.w3.org/2001/xml-events" e:event="load" e:handler="#h" xmlns:s="http://www.w3.org/2000/svg" s:onload="RUN" onactivate="RUN" onscroll="RUN" onunload="RUN" onresize="RUN"/>',
  ),
  'markup in UTF-7': `<?xml version="1.0" encoding="utf-7"?>${document('<text>+ADw-script+AD4-RUN+ADw-/script+AD4-</text>')}`,
};
