const page = JSON.parse(document.getElementById("data").textContent);
