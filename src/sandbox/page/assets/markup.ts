export const markup = `<!doctype html>
<html lang="zh-CN">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>织表 Gridloom · 本地演示台</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%233b6cf6'/%3E%3Cpath d='M8 12h16M8 20h16M12 8v16M20 8v16' stroke='%23fff' stroke-width='2.4'/%3E%3C/svg%3E">
<link rel="stylesheet" href="/table/style.css">
<script type="module" src="/table/app.js"></script>
</head>
<body>
<header class="top">
  <div class="brand"><span class="logo" aria-hidden="true"></span><div><h1>织表</h1><p>本地演示台 · 画面均为模拟，不花一分钱</p></div></div>
  <nav id="tabs" class="tabs" role="tablist" aria-label="表格"></nav>
  <div class="spring"></div>
  <div id="totals" class="totals" aria-live="polite"></div>
  <span id="live" class="live" title="每秒自动刷新">已连接</span>
  <button id="add" type="button" class="primary">新增一行</button>
</header>
<section class="hint" aria-label="怎么用">
  <ol><li><b>放图</b>往产品图里放一张图片</li><li><b>提交</b>在「操作」里选 提交</li><li><b>等待</b>状态和进度会自己变</li><li><b>确认</b>待确认时选 通过 或 打回</li></ol>
</section>
<main class="sheet" id="sheet" tabindex="0"><table class="grid"><thead id="head"></thead><tbody id="body"></tbody></table>
<p id="empty" class="empty" hidden>这张表还没有行。点右上角的「新增一行」开始。</p></main>
<dialog id="viewer" class="viewer"></dialog>
<dialog id="editor" class="editor"></dialog>
<div id="toasts" class="toasts" role="status" aria-live="polite"></div>
<noscript>这个页面需要 JavaScript。</noscript>
</body>
</html>
`;
