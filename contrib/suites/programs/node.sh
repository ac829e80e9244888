node n.js
